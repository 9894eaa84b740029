// The ranges of device memory that are registered with cuFile through Waybill. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace waybill {

void remember_registration(void* pointer, std::uint64_t size_bytes);
void forget_registration(void* pointer) noexcept;

// The start of a registered range that covers [pointer, pointer + size_bytes), or null.
[[nodiscard]] std::byte* registered_base(const void* pointer, std::uint64_t size_bytes);

}  // namespace waybill
