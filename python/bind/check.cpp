#include "bind.hpp"

#include "waybill/check.hpp"

void bind_check(nb::module_& module) {
    module.def(
        "check",
        [](const nb::bytes& path, const std::string& device, const Texts& call, const Texts& context, const nb::bytes& root) {
            const std::string name = path_of(path);
            const std::string folder = path_of(root);
            std::string text;
            std::string json;
            {
                const Released released;
                const waybill::CheckReport report = waybill::check(name, device, layers_of(call, context), folder);
                text = to_text(report);
                json = to_json(report);
            }
            return std::make_tuple(text_of(text), text_of(json));
        },
        "What stands between a file and a GPU as (text, JSON).");
}
