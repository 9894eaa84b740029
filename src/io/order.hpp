// Order: copies come after what the callers queued on their streams before the call.
#pragma once

#include <span>

#include "io/consign.hpp"

namespace waybill {

// Requests of one call may name several streams: the copies come after all of them. By events where the engine copies through
// streams of its own; by waiting here before anything that the host reads or that cuFile does by itself. The consignment is
// planned. Throws Error capturing_stream, cuda_error.
void order_after_callers(Consignment& consignment, std::span<const FileAndRequest> requests);

}  // namespace waybill
