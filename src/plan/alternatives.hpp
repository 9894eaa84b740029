// Alternatives: what a plan would be with one setting changed. Pure.
#pragma once

#include <string>
#include <vector>

#include "waybill/plan.hpp"

namespace waybill {

// Only changes that matter: another number of tasks or pieces. `plan` is what the arguments give as they are.
[[nodiscard]] std::vector<Alternative> list_alternatives(const Plan& plan, const Route& route, const Settings& settings,
                                                         const CufileFacts& cufile, const CufileUse& use);

}  // namespace waybill
