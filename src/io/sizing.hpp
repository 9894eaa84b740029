// Sizing a call: threads, units (what one copy moves) and the plan that the receipt shows.
#pragma once

#include "io/consignment.hpp"

namespace waybill {

// Fills threads, units, plan and slot sizes of a consignment that has its route.
void plan_parts(Consignment& consignment, const MachineFacts& machine);

}  // namespace waybill
