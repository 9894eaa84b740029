// Rules about cufile.json and the CUFILE_ variables: what cuFile passes over without a word. What makes its driver refuse to open
// is a condition (route/conditions.cpp). Pure.
#pragma once

#include "check/rules.hpp"

namespace waybill {

bool cufile_json_missing(const CheckSubject& subject, Finding& finding);
bool cufile_json_unknown_key(const CheckSubject& subject, Finding& finding);
bool cufile_json_ignored_value(const CheckSubject& subject, Finding& finding);
bool cufile_json_contradiction(const CheckSubject& subject, Finding& finding);

}  // namespace waybill
