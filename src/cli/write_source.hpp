// WriteSource: the bytes that `waybill write` takes in, from a file, a pipe or standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace waybill {

class WriteSource {
public:
    // `from`: a path, or - for standard input; at most `most_bytes` are read. Opening a pipe does not wait for its writer.
    // Throws Error file_not_found, is_directory, permission_denied, io_error.
    WriteSource(std::string from, std::optional<std::uint64_t> most_bytes);

    [[nodiscard]] const std::string& name() const noexcept { return from_; }
    // Whether `path` leads to this very file.
    [[nodiscard]] bool is(const std::string& path) const noexcept;
    // All that it will give, where that is known: what a file holds now. A pipe may end earlier than `most_bytes`.
    [[nodiscard]] std::optional<std::uint64_t> known_bytes() const noexcept { return known_bytes_; }

    // Reads until `size_bytes` are there or the source ends; returns how many there are. `look` is called before each call of
    // the kernel and every 50 ms of waiting, and may throw. Throws Error io_error, and file_truncated for a file that ended
    // earlier than its size at the start.
    std::uint64_t read(std::byte* memory, std::uint64_t size_bytes, const std::function<void()>& look);
    // True when there is nothing more to read. A pipe's end shows only when it is read.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    [[noreturn]] void fail(int problem) const;
    [[nodiscard]] bool was_truncated() const noexcept;

    std::string from_;
    Fd fd_;
    std::uint64_t start_ = 0;  // of a file: standard input need not begin at its first byte
    std::uint64_t read_bytes_ = 0;
    std::uint64_t most_bytes_;
    std::optional<std::uint64_t> known_bytes_;
    bool ended_ = false;
};

}  // namespace waybill
