#include "bind.hpp"

namespace {

// (address, bytes, read-only, contiguous) of an object with the buffer protocol; None for others.
nb::object buffer_fields(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        return nb::none();
    }
    nb::object fields = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.buf), static_cast<std::uint64_t>(view.len),
                                       view.readonly != 0, PyBuffer_IsContiguous(&view, 'A') != 0);
    PyBuffer_Release(&view);
    return fields;
}

}  // namespace

void bind_memory(nb::module_& module) {
    module.def("buffer_fields", &buffer_fields, "(address, bytes, read-only, contiguous) of a buffer's memory, or None.");
}
