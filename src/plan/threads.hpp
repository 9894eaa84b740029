// Threads: how many of Waybill's move one request. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "waybill/route.hpp"
#include "waybill/settings.hpp"

namespace waybill {

struct ThreadQuestion {
    EngineKind engine = EngineKind::host;
    Direction direction = Direction::read;
    std::uint64_t total_bytes = 0;
    std::size_t requests = 1;  // served together
    std::uint32_t cores = 1;
    bool direct_write = false;
};
// At least 1. The setting num_threads, or by size and cores; of staging no more than pinned memory has slots for.
[[nodiscard]] std::uint64_t choose_threads(const ThreadQuestion& question, const Settings& settings);

}  // namespace waybill
