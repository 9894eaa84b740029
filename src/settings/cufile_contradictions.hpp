// Keys of cufile.json that do not go together. Pure.
#pragma once

#include <vector>

#include "settings/cufile_values.hpp"

namespace waybill {

// Of effective values: what the library refuses together, or what one of them keeps from having any effect.
[[nodiscard]] std::vector<CufileProblem> cufile_contradictions(const CufileReading& reading, int version);

}  // namespace waybill
