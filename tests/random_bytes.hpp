// Bytes that look random and are the same for the same seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace waybill {

inline std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> bytes(count);
    for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
        const std::uint64_t next = random();
        std::memcpy(&bytes[at], &next, std::min(sizeof next, count - at));
    }
    return bytes;
}

}  // namespace waybill
