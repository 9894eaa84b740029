// Routing a call: gathers the facts that the decision needs, and no others, and asks route/ for it.
#pragma once

#include <memory>
#include <span>

#include "io/consign.hpp"

namespace waybill {

// What the cache holds of a range that is to be read: not looked at where the range is small, and sampled where it is large.
[[nodiscard]] Residency residency_for_route(int fd, std::uint64_t file_offset, std::uint64_t size_bytes);

// The machine with the memory that is free at this moment, which decides whether a cold file fits in.
[[nodiscard]] MachineFacts with_free_memory_now(const MachineFacts& machine, const Settings& settings);

// One route for all of a call's requests: each file is asked about, and where the files would go different ways all are staged.
// The consignment has its parts and settings; its residency is filled where it was looked at.
// Throws Error route_refused, cufile_unavailable where a file cannot be served as asked.
[[nodiscard]] std::shared_ptr<const Route> route_call(Consignment& consignment, const PointerOwner& owner,
                                                      std::span<const FileAndRequest> requests, const MachineFacts& machine);

}  // namespace waybill
