#include "bind.hpp"

void bind_receipt(nb::module_& module) {
    using waybill::Receipt;
    nb::class_<Receipt>(module, "Receipt", "The waybill of one request, as C++ holds it.")
        .def_prop_ro("moved_bytes", [](const Receipt& receipt) { return receipt.moved_bytes; })
        .def_prop_ro("asked_bytes", [](const Receipt& receipt) { return receipt.asked_bytes; })
        .def_prop_ro("short", [](const Receipt& receipt) { return receipt.is_short; })
        .def_prop_ro("path", [](const Receipt& receipt) { return std::string(to_text(receipt.path)); })
        .def_prop_ro("engine", [](const Receipt& receipt) { return std::string(to_text(receipt.engine)); })
        .def_prop_ro("judgement", [](const Receipt& receipt) { return std::string(to_text(receipt.judgement)); })
        .def_prop_ro("total_ns", [](const Receipt& receipt) { return receipt.times.total_ns; })
        .def_prop_ro("gb_per_s", [](const Receipt& receipt) { return gb_per_s(receipt); })
        .def("to_json", [](const Receipt& receipt, int indent) { return text_of(to_json(receipt, indent)); }, nb::arg("indent") = -1)
        .def("to_text", [](const Receipt& receipt) { return text_of(to_text(receipt)); });
}
