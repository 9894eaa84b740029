// The kernel's page size: 4 KiB on most machines, 64 KiB on some with Arm processors.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace waybill {

[[nodiscard]] inline std::uint64_t page_bytes() noexcept {
    return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));  // glibc has it at hand: no system call
}

}  // namespace waybill
