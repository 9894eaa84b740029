// Rules about where the process and the file stand: mounts, containers, virtual machines, limits. Pure.
#pragma once

#include "check/rules.hpp"

namespace waybill {

bool subpath_mount(const CheckSubject& subject, Finding& finding);
bool memlock_low(const CheckSubject& subject, Finding& finding);
bool shared_memory_low(const CheckSubject& subject, Finding& finding);
bool open_files_low(const CheckSubject& subject, Finding& finding);
bool device_order_unknown(const CheckSubject& subject, Finding& finding);
bool in_container(const CheckSubject& subject, Finding& finding);
bool in_virtual_machine(const CheckSubject& subject, Finding& finding);

}  // namespace waybill
