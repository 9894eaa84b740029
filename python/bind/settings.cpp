#include "bind.hpp"

void bind_settings(nb::module_& module) {
    module.def(
        "setting_rows",
        [](const Texts& call, const Texts& context) {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const waybill::SettingRow& row : setting_rows(waybill::resolve_settings(layers_of(call, context)))) {
                rows.emplace_back(row.name, row.value, row.from);
            }
            return rows;
        },
        nb::arg("call"), nb::arg("context"), "Every setting as (name, value, where the value came from).");
}
