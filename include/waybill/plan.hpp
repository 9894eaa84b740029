// Plan: the tasks (layer 1) and pieces (layer 2, cuFile's) that a request becomes.
//
// Pure and computed, never stored per piece: a request of any size has a plan of one size. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "waybill/facts.hpp"
#include "waybill/route.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// What layer 1 hands to an engine in one go: bytes [offset, offset + size) of the request.
struct Task {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
};

// Equal shares of `size_bytes`, the last one of `last_bytes`.
struct Shares {
    std::uint64_t count = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t last_bytes = 0;
    bool operator==(const Shares&) const = default;
};

struct Plan {
    std::uint64_t size_bytes = 0;
    Shares tasks;
    std::optional<Shares> pieces_per_task;     // of a full task; absent for engines without pieces
    std::optional<std::uint64_t> pieces_total;
    std::optional<std::uint64_t> device_reads; // reads that cuFile's compatibility mode makes of them
    bool extrapolated = false;                 // no grid of measurements covers this version of cuFile
};

// The k-th task of a plan, k < plan.tasks.count. Tasks cover the request without a gap or an overlap.
[[nodiscard]] Task task_at(const Plan& plan, std::uint64_t k) noexcept;

[[nodiscard]] Plan make_plan(const Route& route, std::uint64_t size_bytes, const Settings& settings,
                             const CufileFacts& cufile);

}  // namespace waybill
