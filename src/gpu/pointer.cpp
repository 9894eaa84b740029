#include "gpu/pointer.hpp"

#include <algorithm>

namespace waybill {

PointerOwner find_owner(const void* pointer) {
    const CudaApi* api = cuda_if_loaded();
    if (api == nullptr) {
        return {};
    }
    int memory_type = 0;
    int managed = 0;
    int device = -1;
    CuContext context = nullptr;
    AllocationRange range;
    int attributes[] = {kPointerMemoryType, kPointerIsManaged, kPointerDeviceOrdinal,
                        kPointerContext,    kPointerRangeStart, kPointerRangeSize};
    void* values[] = {&memory_type, &managed, &device, &context, &range.start, &range.size_bytes};
    const auto address = reinterpret_cast<CuPointer>(pointer);
    const CuStatus status = api->pointer_attributes(6, attributes, values, address);
    if (status != kCudaSuccess || memory_type == 0) {
        return {};  // not initialised, or memory that CUDA does not know
    }
    PointerOwner owner;
    if (managed != 0) {
        owner.memory = MemoryKind::managed;
    } else {
        owner.memory = memory_type == kMemoryTypeDevice ? MemoryKind::device : MemoryKind::pinned;
    }
    if (owner.on_gpu()) {
        owner.device = device;
        // Memory of cuMemAllocAsync and of virtual mappings has no context: its device's primary one is used.
        owner.context = context != nullptr ? context : primary_context(device);
        owner.rest_bytes = context != nullptr ? range.start + range.size_bytes - address : 0;
    }
    return owner;
}

PointerOwner OwnerFinder::find(const void* pointer) {
    if (no_cuda_) {
        return {};
    }
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (address < last_address_ || address - last_address_ >= last_.rest_bytes) {
        last_ = find_owner(pointer);
        last_address_ = address;
        return last_;
    }
    PointerOwner owner = last_;
    owner.rest_bytes -= address - last_address_;
    return owner;
}

std::uint64_t covered_bytes(const CudaApi& api, CuPointer pointer, std::uint64_t size_bytes) {
    std::uint64_t covered = 0;
    while (covered < size_bytes) {
        AllocationRange range;
        CuContext context = nullptr;
        int attributes[] = {kPointerRangeStart, kPointerRangeSize, kPointerContext};
        void* values[] = {&range.start, &range.size_bytes, &context};
        const CuStatus status = api.pointer_attributes(3, attributes, values, pointer + covered);
        const CuPointer end = range.start + range.size_bytes;
        if (status != kCudaSuccess || range.size_bytes == 0 || end <= pointer + covered) {
            break;
        }
        // A plain allocation (it has a context) ends where it ends, though another may begin there.
        if (covered != 0 && context != nullptr) {
            break;
        }
        covered = end - pointer;
        if (context != nullptr) {
            break;
        }
    }
    return std::min(covered, size_bytes);
}

}  // namespace waybill
