#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fake.hpp"

namespace fake {
namespace {

constexpr std::uint64_t kPage = 4096;
std::uint64_t pages(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

std::byte* map(std::uint64_t size, int protection) {
    void* const bytes = ::mmap(nullptr, pages(size), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return bytes == MAP_FAILED ? nullptr : static_cast<std::byte*>(bytes);
}

}  // namespace

Memory& memory() {
    static Memory& all = *new Memory();
    return all;
}

std::map<std::uintptr_t, Allocation>::iterator Memory::find(Pointer address) {
    auto after = all.upper_bound(address);
    if (after == all.begin()) {
        return all.end();
    }
    --after;
    return address < after->first + after->second.size ? after : all.end();
}

bool Memory::resolve(Pointer address, std::uint64_t size, std::vector<Segment>& segments, bool& known, Kind& kind) {
    const std::lock_guard lock(mutex);
    auto at = find(address);
    known = at != all.end();
    if (!known) {
        return true;  // pageable host memory
    }
    kind = at->second.kind;
    while (size != 0) {
        if (at == all.end()) {
            ++report().violations;
            return false;
        }
        const std::uint64_t offset = address - at->first;
        const std::uint64_t count = std::min(size, at->second.size - offset);
        segments.push_back({at->second.bytes + offset, count});
        address += count;
        size -= count;
        at = find(address);
    }
    return true;
}

Status allocate(Pointer* pointer, std::uint64_t size, Kind kind, Context* context, int device) {
    if (size == 0) {
        return kInvalidValue;
    }
    Memory& all = memory();
    const bool on_device = kind == Kind::device;
    const std::lock_guard lock(all.mutex);
    if (on_device && all.device_bytes + size > number_of("FAKE_CUDA_MEMORY", std::uint64_t{16} << 30)) {
        return kOutOfMemory;
    }
    if (kind == Kind::pinned && all.pinned_bytes + size > number_of("FAKE_CUDA_PINNED_LIMIT", ~std::uint64_t{0})) {
        return kOutOfMemory;
    }
    Allocation allocation;
    allocation.size = size;
    allocation.kind = kind;
    allocation.device = device;
    allocation.context = context;
    allocation.id = next_id();
    allocation.bytes = map(size, PROT_READ | PROT_WRITE);
    std::byte* address = allocation.bytes;
    // A device address cannot be touched by the processor: code that does so by mistake faults here as it would there.
    if (on_device && !is_set("FAKE_CUDA_READABLE")) {
        address = map(size, PROT_NONE);
    }
    if (allocation.bytes == nullptr || address == nullptr) {
        return kOutOfMemory;
    }
    (on_device ? all.device_bytes : all.pinned_bytes) += kind == Kind::managed ? 0 : size;
    *pointer = reinterpret_cast<Pointer>(address);
    all.all.emplace(reinterpret_cast<std::uintptr_t>(address), allocation);
    return kSuccess;
}

Status release(Pointer pointer, std::initializer_list<Kind> kinds) {
    Memory& all = memory();
    const std::lock_guard lock(all.mutex);
    const auto found = all.all.find(pointer);
    if (found == all.all.end() || std::find(kinds.begin(), kinds.end(), found->second.kind) == kinds.end()) {
        return kInvalidValue;
    }
    const Allocation allocation = found->second;
    all.all.erase(found);
    if (allocation.kind == Kind::device) {
        all.device_bytes -= allocation.size;
    } else if (allocation.kind != Kind::managed) {
        all.pinned_bytes -= allocation.size;
    }
    if (allocation.kind != Kind::registered) {
        if (reinterpret_cast<Pointer>(allocation.bytes) != pointer) {
            ::munmap(reinterpret_cast<void*>(pointer), pages(allocation.size));
        }
        ::munmap(allocation.bytes, pages(allocation.size));
    }
    return kSuccess;
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT Status cuMemAlloc_v2(Pointer* pointer, std::size_t size) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemAlloc_v2", context)) {
        return status;
    }
    return allocate(pointer, size, Kind::device, context, context->device);
}

FAKE_EXPORT Status cuMemFree_v2(Pointer pointer) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemFree_v2", context)) {
        return status;
    }
    return release(pointer, {Kind::device, Kind::managed});
}

// Memory of the pool has no context.
FAKE_EXPORT Status cuMemAllocAsync(Pointer* pointer, std::size_t size, void* /*stream*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemAllocAsync", context)) {
        return status;
    }
    return allocate(pointer, size, Kind::device, nullptr, context->device);
}

FAKE_EXPORT Status cuMemFreeAsync(Pointer pointer, void* handle) {
    if (Stream* const stream = find_stream(handle)) {
        wait_for_stream(*stream);
    }
    return release(pointer, {Kind::device});
}

FAKE_EXPORT Status cuMemAllocManaged(Pointer* pointer, std::size_t size, unsigned /*flags*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemAllocManaged", context)) {
        return status;
    }
    return allocate(pointer, size, Kind::managed, context, context->device);
}

FAKE_EXPORT Status cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
    *total = number_of("FAKE_CUDA_MEMORY", std::uint64_t{16} << 30);
    const std::lock_guard lock(memory().mutex);
    *free_bytes = *total - memory().device_bytes;
    return kSuccess;
}

FAKE_EXPORT Status cuMemHostAlloc(void** pointer, std::size_t size, unsigned /*flags*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemHostAlloc", context)) {
        return status;
    }
    Pointer address = 0;
    const Status status = allocate(&address, size, Kind::pinned, context, context->device);
    *pointer = reinterpret_cast<void*>(address);
    return status;
}
FAKE_EXPORT Status cuMemAllocHost_v2(void** pointer, std::size_t size) { return cuMemHostAlloc(pointer, size, 0); }

FAKE_EXPORT Status cuMemFreeHost(void* pointer) {
    if (const Status status = enter("cuMemFreeHost")) {
        return status;
    }
    return release(reinterpret_cast<Pointer>(pointer), {Kind::pinned});
}

FAKE_EXPORT Status cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned /*flags*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuMemHostRegister_v2", context)) {
        return status;
    }
    Memory& all = memory();
    const std::lock_guard lock(all.mutex);
    if (all.find(reinterpret_cast<Pointer>(pointer)) != all.all.end()) {
        return kHostAlreadyRegistered;
    }
    if (all.pinned_bytes + size > number_of("FAKE_CUDA_PINNED_LIMIT", ~std::uint64_t{0})) {
        return kOutOfMemory;
    }
    Allocation allocation;
    allocation.size = size;
    allocation.kind = Kind::registered;
    allocation.bytes = static_cast<std::byte*>(pointer);
    allocation.context = context;
    allocation.device = context->device;
    allocation.id = next_id();
    all.pinned_bytes += size;
    all.all.emplace(reinterpret_cast<std::uintptr_t>(pointer), allocation);
    return kSuccess;
}

FAKE_EXPORT Status cuMemHostUnregister(void* pointer) {
    if (const Status status = enter("cuMemHostUnregister")) {
        return status;
    }
    return release(reinterpret_cast<Pointer>(pointer), {Kind::registered}) == kSuccess ? kSuccess : kHostNotRegistered;
}

FAKE_EXPORT Status cuMemHostGetDevicePointer_v2(Pointer* pointer, void* host, unsigned /*flags*/) {
    *pointer = reinterpret_cast<Pointer>(host);
    return kSuccess;
}

FAKE_EXPORT Status cuMemGetAddressRange_v2(Pointer* base, std::size_t* size, Pointer pointer) {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().find(pointer);
    if (found == memory().all.end()) {
        return kNotFound;
    }
    if (base != nullptr) {
        *base = found->first;
    }
    if (size != nullptr) {
        *size = found->second.size;
    }
    return kSuccess;
}

namespace {

// One attribute of an address; false when this stand-in does not know it.
bool attribute_of(int attribute, Pointer pointer, const Allocation* allocation, std::uintptr_t start, void* value) {
    const bool on_device = allocation != nullptr && (allocation->kind == Kind::device || allocation->kind == Kind::managed);
    switch (attribute) {
        case 1: *static_cast<void**>(value) = allocation != nullptr ? allocation->context : nullptr; return true;
        case 2: *static_cast<unsigned*>(value) = allocation == nullptr ? 0 : (on_device ? 2 : 1); return true;
        case 3: *static_cast<Pointer*>(value) = allocation != nullptr ? pointer : 0; return true;
        case 4: *static_cast<void**>(value) = allocation != nullptr && allocation->kind != Kind::device ? reinterpret_cast<void*>(pointer) : nullptr; return true;
        case 6: *static_cast<int*>(value) = 0; return true;                                                  // SYNC_MEMOPS
        case 7: *static_cast<unsigned long long*>(value) = allocation != nullptr ? allocation->id : 0; return true;
        case 8: *static_cast<int*>(value) = allocation != nullptr && allocation->kind == Kind::managed ? 1 : 0; return true;
        case 9: *static_cast<int*>(value) = allocation != nullptr ? allocation->device : -2; return true;
        case 10: *static_cast<int*>(value) = 1; return true;                                                 // IPC
        case 11: *static_cast<Pointer*>(value) = allocation != nullptr ? start : 0; return true;
        case 12: *static_cast<std::size_t*>(value) = allocation != nullptr ? allocation->size : 0; return true;
        case 13: *static_cast<int*>(value) = allocation != nullptr ? 1 : 0; return true;                     // MAPPED
        default: return false;
    }
}

}  // namespace

FAKE_EXPORT Status cuPointerGetAttributes(unsigned count, int* attributes, void** values, Pointer pointer) {
    if (const Status status = enter("cuPointerGetAttributes")) {
        return status;
    }
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().find(pointer);
    const bool known = found != memory().all.end();
    for (unsigned k = 0; k < count; ++k) {
        attribute_of(attributes[k], pointer, known ? &found->second : nullptr, known ? found->first : 0, values[k]);
    }
    return kSuccess;
}

FAKE_EXPORT Status cuPointerGetAttribute(void* value, int attribute, Pointer pointer) {
    if (const Status status = enter("cuPointerGetAttribute")) {
        return status;
    }
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().find(pointer);
    if (found == memory().all.end()) {
        return kInvalidValue;
    }
    return attribute_of(attribute, pointer, &found->second, found->first, value) ? kSuccess : kNotSupported;
}

FAKE_EXPORT Status cuPointerSetAttribute(const void* /*value*/, int /*attribute*/, Pointer /*pointer*/) { return kSuccess; }
