// Rules about libcufile itself: which driver it wants. Pure.
#pragma once

#include "check/rules.hpp"

namespace waybill {

bool driver_too_old(const CheckSubject& subject, Finding& finding);

}  // namespace waybill
