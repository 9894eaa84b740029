// Pieces: how cuFile (layer 2) splits one task, by the `execution` keys of cufile.json. Pure.
#pragma once

#include <cstdint>

#include "waybill/facts.hpp"
#include "waybill/plan.hpp"

namespace waybill {

// The rule was fitted to libcufile 1.20 with the shipped keys and with variations of them (docs/measurements); other
// versions agree at the sizes measured. `extrapolated` is set where no measurement lies near.
struct PieceRule {
    Shares pieces;
    bool extrapolated = false;
};
[[nodiscard]] PieceRule split_task(std::uint64_t size_bytes, const CufileConfig& config);

}  // namespace waybill
