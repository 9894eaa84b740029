#include "bind.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Waybill's C++ library; use the package waybill, which wraps it.";
    // Requests may be on their way when the interpreter ends.
    nb::set_leak_warnings(false);
    module.attr("version") = std::string(waybill::kVersion);
    bind_errors(module);
    bind_settings(module);
    bind_receipt(module);
    bind_future(module);
    bind_file(module);
    bind_buffer(module);
    bind_memory(module);
}
