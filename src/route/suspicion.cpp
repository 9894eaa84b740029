#include "route/suspicion.hpp"

#include "route/conditions.hpp"

namespace waybill {

bool driver_is_suspicious(const MachineFacts& machine) noexcept {
    if (!machine.modules_readable.known() || machine.cufile.config.ends_process) {
        return true;
    }
    if (!machine.nvidia_fs.loaded.known()) {
        return false;
    }
    const FileFacts any_file;
    for (const Condition& condition : conditions()) {
        if (condition.makes_driver_suspicious && condition.ask({any_file, machine}).holds != Holds::yes) {
            return true;
        }
    }
    return false;
}

}  // namespace waybill
