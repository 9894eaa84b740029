#include "bind.hpp"

void bind_future(nb::module_& module) {
    using waybill::Future;
    nb::class_<Future>(module, "Future", "A request on its way, as C++ holds it; one thread at a time.")
        .def("done", &Future::done)
        .def("wait_for",
             [](const Future& future, double seconds) {
                 const nb::gil_scoped_release released;
                 return future.wait_for(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
             },
             nb::arg("seconds"), "True when done within the time; the GIL is released.")
        .def("get",
             [](const Future& future) {
                 {
                     const nb::gil_scoped_release released;
                     future.wait();
                 }
                 return waybill::Receipt(future.get());
             },
             "The receipt, or the request's error.")
        .def("cancel", &Future::cancel, nb::call_guard<nb::gil_scoped_release>())
        .def("event_descriptor", &Future::event_descriptor)
        .def("detach", &Future::detach);
}
