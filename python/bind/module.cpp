#include "bind.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Waybill's C++ library; use the package waybill, which wraps it.";
    // Requests may be on their way when the interpreter ends.
    nb::set_leak_warnings(false);
    // One GIL for one set of requests: NVIDIA's libraries and this module's types belong to the process.
    module.def("check_interpreter", [] {
        if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
            throw nb::import_error("waybill works in the main interpreter of a process alone; import it there, or in another process");
        }
    });
    module.attr("version") = std::string(waybill::kVersion);
    bind_errors(module);
    bind_settings(module);
    bind_receipt(module);
    bind_future(module);
    bind_file(module);
    bind_buffer(module);
    bind_check(module);
    bind_cufile(module);
    bind_memory(module);
}
