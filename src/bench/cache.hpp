// The page cache before a measurement: all of a file in it, or none.
#pragma once

#include <cstdint>
#include <string>

namespace waybill {

// Reads the first `size_bytes` of the file. Throws Error io_error.
void bring_into_cache(const std::string& file, std::uint64_t size_bytes);

// Drops them, after writing what is dirty. Returns why some are still there; empty when none is.
// (What is mapped, locked or in memory alone stays.) Throws Error io_error.
[[nodiscard]] std::string drop_from_cache(const std::string& file, std::uint64_t size_bytes);

}  // namespace waybill
