// Making cuFile ready for a call: the driver, a handle for every file, buffers that were registered ahead.
#pragma once

#include "io/consignment.hpp"

namespace waybill {

// For a consignment whose route is cuFile's. Under compat_mode=auto a refusal changes the route to staging, and the
// receipt says why. Throws Error cufile_unavailable, cufile_error otherwise; timeout where the request's time is up.
void prepare_cufile_or_stage(Consignment& consignment);

}  // namespace waybill
