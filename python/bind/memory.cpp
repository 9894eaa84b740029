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
    module.def("free_slots", &waybill::free_staging_memory, nb::call_guard<Released>(),
               "Frees the pinned memory that no request uses; returns its bytes.");
    module.def(
        "cached_bytes",
        [](int fd, std::uint64_t offset, std::uint64_t size_bytes) -> std::optional<std::uint64_t> {
            const Released released;
            const waybill::Residency residency = waybill::measure_residency(fd, offset, size_bytes);
            if (residency.state == waybill::Residency::State::unknown) {
                return std::nullopt;
            }
            return residency.cached_bytes;
        },
        nb::arg("fd"), nb::arg("offset"), nb::arg("size_bytes"), "Bytes of a file's range in the page cache; None where unknown.");
}
