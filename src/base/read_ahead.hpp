// How far the kernel reads ahead on a file by itself.
#pragma once

#include <cstdint>

namespace waybill {

// The most bytes beyond a read that the kernel may bring into the page cache with it; a cautious guess where it does not say
// (file systems without a block device of their own).
[[nodiscard]] std::uint64_t read_ahead_bytes(int fd) noexcept;

}  // namespace waybill
