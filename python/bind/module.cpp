#include <vector>

#include "bind.hpp"

NB_MODULE(waybill_core, module) {
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
    bind_check(module);
    bind_cufile(module);
    bind_memory(module);
}

namespace {

// One GIL for one set of requests: NVIDIA's libraries and this module's types belong to the process.
int check_interpreter(PyObject* /*module*/) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) {
        return 0;
    }
    PyErr_SetString(PyExc_ImportError, "waybill works in the main interpreter of a process alone; import it there, or in another process");
    return -1;
}

}  // namespace

// nanobind's part must not even begin in a second interpreter: it makes its types again, and the first one's no longer convert.
// Python up to 3.12 calls this in the interpreter that imports; from 3.13 on in the main one, and only the slots there.
extern "C" NB_EXPORT PyObject* PyInit__core() {
    if (check_interpreter(nullptr) != 0) {
        return nullptr;
    }
    PyObject* const made = PyInit_waybill_core();
    if (made == nullptr || !PyObject_TypeCheck(made, &PyModuleDef_Type)) {
        return made;
    }
    auto* const definition = reinterpret_cast<PyModuleDef*>(made);
    static std::vector<PyModuleDef_Slot> slots;
    if (slots.empty()) {
        slots.push_back({Py_mod_exec, reinterpret_cast<void*>(&check_interpreter)});
        for (const PyModuleDef_Slot* slot = definition->m_slots; slot != nullptr && slot->slot != 0; ++slot) {
            slots.push_back(*slot);
        }
        slots.push_back({0, nullptr});
        definition->m_slots = slots.data();
    }
    return made;
}
