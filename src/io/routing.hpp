// Routing a call: gathers the facts that the decision needs, and no others, and asks route/ for it.
#pragma once

#include <memory>
#include <span>

#include "io/consign.hpp"

namespace waybill {

// One route for all of a call's requests: each file is asked about, and where the files would go different ways all are staged.
// The consignment has its parts and settings; its residency is filled where it was looked at.
// Throws Error route_refused, cufile_unavailable where a file cannot be served as asked.
[[nodiscard]] std::shared_ptr<const Route> route_call(Consignment& consignment, const PointerOwner& owner,
                                                      std::span<const FileAndRequest> requests, const MachineFacts& machine);

}  // namespace waybill
