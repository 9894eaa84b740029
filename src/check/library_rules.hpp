// Rules about libcufile itself: what it needs to load and which driver it wants. Pure.
#pragma once

#include "check/rules.hpp"

namespace waybill {

bool dependency_missing(const CheckSubject& subject, Finding& finding);
bool driver_too_old(const CheckSubject& subject, Finding& finding);

}  // namespace waybill
