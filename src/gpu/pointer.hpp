// What an address is: host, pinned, device or managed memory, and whose.
#pragma once

#include <cstdint>

#include "gpu/cuda.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

struct PointerOwner {
    MemoryKind memory = MemoryKind::host;
    int device = -1;               // for device and managed memory
    CuContext context = nullptr;   // to make current for copies; null for host memory
    // Bytes from the address to the end of its allocation; 0 where other mappings may follow (no context of its own).
    std::uint64_t rest_bytes = 0;

    [[nodiscard]] bool on_gpu() const noexcept { return memory == MemoryKind::device || memory == MemoryKind::managed; }
};

// Asks the driver, when this process has it. Without it every address is host memory.
[[nodiscard]] PointerOwner find_owner(const void* pointer);

// Owners of many addresses, of which most lie in the allocation of the one before: that is asked about once.
class OwnerFinder {
public:
    [[nodiscard]] PointerOwner find(const void* pointer);

private:
    bool no_cuda_ = cuda_if_loaded() == nullptr;  // then all of it is host memory, as long as this lives
    PointerOwner last_;
    std::uintptr_t last_address_ = 0;
};

// The allocation that an address lies in.
struct AllocationRange {
    CuPointer start = 0;
    std::uint64_t size_bytes = 0;
};

// The GPU memory from `pointer` on that allocations cover without a gap, at most `size_bytes`: a range may span several
// mappings (virtual memory management).
[[nodiscard]] std::uint64_t covered_bytes(const CudaApi& api, CuPointer pointer, std::uint64_t size_bytes);

}  // namespace waybill
