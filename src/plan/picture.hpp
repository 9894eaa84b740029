// Picture: shares as a line of boxes. Pure.
#pragma once

#include <string>

#include "waybill/plan.hpp"

namespace waybill {

// "[1      |2      |3  ]": boxes as wide as their bytes; of many the first ones and the last one: "[1 |2 |3 | ... |64]".
[[nodiscard]] std::string draw(const Shares& shares);

}  // namespace waybill
