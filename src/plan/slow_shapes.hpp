// Slow shapes: plans that are known to cost speed, with what was seen and what to change. Pure.
#pragma once

#include <vector>

#include "waybill/plan.hpp"

namespace waybill {

struct ShapeQuestion {
    std::uint64_t file_offset = 0;
    std::uint64_t threads = 1;  // of Waybill's
};

[[nodiscard]] std::vector<Reason> list_slow_shapes(const Plan& plan, const Route& route, const Settings& settings,
                                                   const CufileFacts& cufile, const CufileUse& use,
                                                   const ShapeQuestion& question);

}  // namespace waybill
