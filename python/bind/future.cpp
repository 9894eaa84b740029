#include "kept_future.hpp"

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<KeptFuture>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<KeptFuture>(self)->let_go();
    }
    return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

}  // namespace

void bind_future(nb::module_& module) {
    nb::class_<KeptFuture>(module, "Future", nb::type_slots(slots), "A request on its way, as C++ holds it; keeps file and array alive.")
        .def("done", [](const KeptFuture& kept) { return kept.future().done(); })
        .def("wait_for", &KeptFuture::wait_for, nb::arg("seconds"), "True when done within the time; the GIL is released.")
        .def("moved_bytes",
             [](const KeptFuture& kept) {
                 const Released released;
                 return kept.future().moved_bytes();
             },
             "Bytes that have arrived so far.")
        .def("get", &KeptFuture::collect, "Waits; the receipt, or the request's error.")
        .def("cancel", [](const KeptFuture& kept) {
            const Released released;
            return kept.future().cancel();
        })
        .def("event_descriptor", [](const KeptFuture& kept) { return kept.future().event_descriptor(); });
    module.def("sweep", &KeptFuture::sweep, "Frees the arrays of dropped requests that have ended; returns how many have not.");
    module.def("end_all", &KeptFuture::end_all, nb::arg("seconds"), "Cancels every request, and waits at most so long for them.");
}
