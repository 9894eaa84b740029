#include "buffer_view.hpp"

BufferView::BufferView(nb::handle object) noexcept : valid_(PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FULL_RO) == 0) {
    if (!valid_) {
        PyErr_Clear();
    }
}

BufferView::~BufferView() {
    if (valid_) {
        PyBuffer_Release(&view_);
    }
}

// 'O' in a format as PEP 3118 writes it, outside the names of fields (between colons).
bool BufferView::holds_objects() const noexcept {
    bool in_name = false;
    for (const char* at = view_.format; at != nullptr && *at != '\0'; ++at) {
        in_name = in_name != (*at == ':');
        if (*at == 'O' && !in_name) {
            return true;
        }
    }
    return false;
}

std::optional<std::uint64_t> BufferView::writable_bytes() const noexcept {
    if (!valid_ || read_only() || !contiguous() || holds_objects()) {
        return std::nullopt;
    }
    return size_bytes();
}
