#include "io/open_cufile.hpp"

#include "route/suspicion.hpp"
#include "waybill/file.hpp"

namespace waybill {

const CufileDriver& open_cufile(const SettingLayers& layers) {
    const Settings settings = resolve_settings(layers);
    CufileOptions options;
    options.library = settings.cufile_library.value;
    options.json = settings.cufile_json.value;
    options.open_timeout_ns = settings.driver_timeout.value;
    options.try_in_child_first = driver_is_suspicious(machine_facts(settings));
    return cufile_driver(options);
}

}  // namespace waybill
