// Ceilings: what the parts of the machine do at most, without Waybill's mover.
#pragma once

#include <cstdint>
#include <string>

#include "bench/bench.hpp"

namespace waybill {

// Copies within host memory by as many threads as a hot read to host memory may use.
[[nodiscard]] Ceiling measure_memory(std::uint64_t time_ns);

// Direct reads (O_DIRECT) of the file's first `size_bytes`, many at a time.
[[nodiscard]] Ceiling measure_drive(const std::string& file, std::uint64_t size_bytes, std::uint64_t time_ns);

// Copies of pinned memory to the GPU, one after the other on one stream. Throws Error no_gpu, cuda_error.
[[nodiscard]] Ceiling measure_pinned_copy(int device, std::uint64_t time_ns);

}  // namespace waybill
