#include "route/suspicion.hpp"

#include "route/conditions.hpp"

namespace waybill {

bool driver_is_suspicious(const MachineFacts& machine) noexcept {
    if (!machine.modules_readable.known()) {
        return true;
    }
    if (!machine.nvidia_fs.loaded.known()) {
        return false;
    }
    for (const Condition& condition : conditions()) {
        if ((condition.id == "nvidia-fs-nodes-missing" || condition.id == "nvidia-fs-known-bad") &&
            condition.ask({}, machine).holds != Holds::yes) {
            return true;
        }
    }
    return false;
}

}  // namespace waybill
