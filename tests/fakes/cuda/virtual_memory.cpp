// Virtual memory management, as PyTorch's expandable segments use it: addresses are reserved, memory is mapped into them.
#include <sys/mman.h>

#include "fake.hpp"

using namespace fake;

namespace {

// Memory lives until its handle is released and it is mapped nowhere. All under the mutex of memory().
struct Handle {
    std::uint64_t size = 0;
    std::byte* bytes = nullptr;
    std::uint64_t users = 1;
};
std::map<Pointer, Handle*> mapped;

void let_go(Handle* handle) {
    if (--handle->users == 0) {
        ::munmap(handle->bytes, handle->size);
        delete handle;
    }
}

}  // namespace

FAKE_EXPORT Status cuMemGetAllocationGranularity(std::size_t* granularity, const void* /*properties*/, int /*option*/) {
    *granularity = std::size_t{2} << 20;
    return kSuccess;
}

FAKE_EXPORT Status cuMemAddressReserve(Pointer* pointer, std::size_t size, std::size_t /*alignment*/, Pointer /*address*/,
                                       unsigned long long /*flags*/) {
    void* const range = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *pointer = reinterpret_cast<Pointer>(range);
    return range == MAP_FAILED ? kOutOfMemory : kSuccess;
}

FAKE_EXPORT Status cuMemAddressFree(Pointer pointer, std::size_t size) {
    ::munmap(reinterpret_cast<void*>(pointer), size);
    return kSuccess;
}

FAKE_EXPORT Status cuMemCreate(unsigned long long* handle, std::size_t size, const void* /*properties*/, unsigned long long /*flags*/) {
    auto* const made = new Handle();
    made->size = size;
    made->bytes = static_cast<std::byte*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    *handle = reinterpret_cast<unsigned long long>(made);
    return kSuccess;
}

FAKE_EXPORT Status cuMemRelease(unsigned long long handle) {
    const std::lock_guard lock(memory().mutex);
    let_go(reinterpret_cast<Handle*>(handle));
    return kSuccess;
}

FAKE_EXPORT Status cuMemMap(Pointer pointer, std::size_t size, std::size_t offset, unsigned long long handle, unsigned long long /*flags*/) {
    auto* const made = reinterpret_cast<Handle*>(handle);
    Allocation allocation;
    allocation.size = size;
    allocation.bytes = made->bytes + offset;
    allocation.context = nullptr;
    allocation.id = next_id();
    const std::lock_guard lock(memory().mutex);
    memory().all.emplace(pointer, allocation);
    ++made->users;
    mapped[pointer] = made;
    return kSuccess;
}

FAKE_EXPORT Status cuMemUnmap(Pointer pointer, std::size_t /*size*/) {
    const std::lock_guard lock(memory().mutex);
    memory().all.erase(pointer);
    if (const auto found = mapped.find(pointer); found != mapped.end()) {
        let_go(found->second);
        mapped.erase(found);
    }
    return kSuccess;
}

FAKE_EXPORT Status cuMemSetAccess(Pointer /*pointer*/, std::size_t /*size*/, const void* /*descriptions*/, std::size_t /*count*/) {
    return kSuccess;
}
