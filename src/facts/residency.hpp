// How much of a file's range is in the page cache, and by which means that is known.
#pragma once

#include <cstdint>

#include "waybill/facts.hpp"

namespace waybill {

// cachestat where the kernel answers; else mincore, which tells the truth to an owner or a writer of the file alone and
// counts every page as resident for others; else unknown. Never throws.
[[nodiscard]] Residency measure_residency(int fd, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

}  // namespace waybill
