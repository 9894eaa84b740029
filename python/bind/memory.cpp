#include "bind.hpp"

namespace {

// Whether elements are references to Python objects, which bytes of a file must never replace: 'O' in a format as PEP 3118
// writes it, outside the names of fields (between colons).
bool holds_objects(const char* format) {
    bool in_name = false;
    for (; format != nullptr && *format != '\0'; ++format) {
        in_name = in_name != (*format == ':');
        if (*format == 'O' && !in_name) {
            return true;
        }
    }
    return false;
}

// (address, bytes, read-only, contiguous, holds objects) of an object with the buffer protocol; None for others.
nb::object buffer_fields(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        return nb::none();
    }
    nb::object fields = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.buf), static_cast<std::uint64_t>(view.len),
                                       view.readonly != 0, PyBuffer_IsContiguous(&view, 'A') != 0, holds_objects(view.format));
    PyBuffer_Release(&view);
    return fields;
}

}  // namespace

void bind_memory(nb::module_& module) {
    module.def("buffer_fields", &buffer_fields,
               "(address, bytes, read-only, contiguous, holds objects) of a buffer's memory, or None.");
}
