#include "io/open_cufile.hpp"

#include "route/suspicion.hpp"
#include "waybill/file.hpp"

namespace waybill {

CufileOptions cufile_options(const Settings& settings, bool suspicious) {
    CufileOptions options;
    options.library = settings.cufile_library.value;
    options.json = settings.cufile_json.value;
    options.open_timeout_ns = settings.driver_timeout.value;
    options.try_in_child_first = suspicious;
    return options;
}

const CufileDriver& open_cufile(const SettingLayers& layers) {
    const Settings settings = resolve_settings(layers);
    return cufile_driver(cufile_options(settings, driver_is_suspicious(machine_facts(settings))));
}

}  // namespace waybill
