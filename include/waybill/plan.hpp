// Plan: the tasks (layer 1) and pieces (layer 2, cuFile's) that a request becomes.
//
// Pure and computed, never stored per piece: a request of any size has a plan of one size. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "waybill/facts.hpp"
#include "waybill/route.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// What layer 1 hands to an engine in one go: bytes [offset, offset + size) of the request.
struct Task {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
};

// Shares of `size_bytes` each, the last one of `last_bytes`. Of pieces the last one may be the largest.
struct Shares {
    std::uint64_t count = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t last_bytes = 0;
    bool operator==(const Shares&) const = default;
};

// What the pieces of a plan rest on.
enum class PlanBasis {
    measured,         // a grid of measurements of this version of cuFile, in its compatibility mode
    other_version,    // the nearest version measured
    unknown_version,  // the newest version measured
    direct_path,      // the compatibility mode's grid, though a direct path is expected
};
// "measured", "other-version", ...
[[nodiscard]] std::string_view to_text(PlanBasis basis) noexcept;
// One sentence for people; empty for `measured`.
[[nodiscard]] std::string basis_note(PlanBasis basis);

// What is known of cuFile's part beyond the facts.
struct CufileUse {
    std::optional<int> version;  // of the library that is loaded; absent: as the facts say
    bool registered = false;     // the destination is registered with cuFile, which then splits otherwise
};

// The shape of a transfer. Sizes in bytes; what is absent does not apply to the engine, or is not known.
struct Plan {
    std::uint64_t size_bytes = 0;
    Shares tasks;
    std::optional<Shares> pieces_per_task;       // of a full task; absent for engines without pieces
    std::optional<Shares> pieces_of_last_task;   // absent where it is a full one
    std::optional<std::uint64_t> pieces_total;
    std::optional<std::uint64_t> device_reads;   // reads of the file that cuFile's compatibility mode makes of them
    PlanBasis basis = PlanBasis::measured;       // of the pieces

    // The pieces rest on something else than measurements of this very case.
    [[nodiscard]] bool extrapolated() const noexcept { return basis != PlanBasis::measured; }
};

// The plan with one thing changed: a setting, a key of cufile.json, or whether the destination is registered.
struct Alternative {
    std::string setting;
    std::string value;
    Plan plan;
};

// The k-th task of a plan, k < plan.tasks.count. Tasks cover the request without a gap or an overlap.
[[nodiscard]] Task task_at(const Plan& plan, std::uint64_t k) noexcept;

// The plan of `size_bytes` by this route. Never throws.
[[nodiscard]] Plan make_plan(const Route& route, std::uint64_t size_bytes, const Settings& settings,
                             const CufileFacts& cufile, const CufileUse& use = {});

}  // namespace waybill
