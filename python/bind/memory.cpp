#include "buffer_view.hpp"

namespace {

// (address, bytes, read-only, contiguous, holds objects) of an object with the buffer protocol; None for others.
nb::object buffer_fields(nb::handle object) {
    const BufferView view(object);
    if (!view.valid()) {
        return nb::none();
    }
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.data()), view.size_bytes(), view.read_only(), view.contiguous(),
                          view.holds_objects());
}

}  // namespace

void bind_memory(nb::module_& module) {
    module.def("buffer_fields", &buffer_fields,
               "(address, bytes, read-only, contiguous, holds objects) of a buffer's memory, or None.");
}
