// BufferView: the memory of an object with the buffer protocol, held while this lives.
#pragma once

#include "bind.hpp"

class BufferView {
public:
    explicit BufferView(nb::handle object) noexcept;
    ~BufferView();
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;

    // False for an object without the protocol; the rest then means nothing.
    [[nodiscard]] bool valid() const noexcept { return valid_; }
    [[nodiscard]] void* data() const noexcept { return view_.buf; }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return static_cast<std::uint64_t>(view_.len); }
    [[nodiscard]] bool read_only() const noexcept { return view_.readonly != 0; }
    [[nodiscard]] bool contiguous() const noexcept { return PyBuffer_IsContiguous(&view_, 'A') != 0; }
    // Whether elements are references to Python objects, which bytes of a file must never replace.
    [[nodiscard]] bool holds_objects() const noexcept;
    // How many bytes a read may fill; absent where it may fill none of them.
    [[nodiscard]] std::optional<std::uint64_t> writable_bytes() const noexcept;

private:
    Py_buffer view_{};
    bool valid_ = false;
};
