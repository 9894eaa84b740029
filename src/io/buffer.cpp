#include "waybill/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "gpu/cufile.hpp"
#include "gpu/pointer.hpp"
#include "io/open_cufile.hpp"
#include "io/registered.hpp"
#include "pool/slots.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kLeastBytes = 1;  // an empty buffer has an address too

void check_inside(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t capacity) {
    if (offset > capacity || size_bytes > capacity - offset) {
        throw Error(ErrorCode::destination_too_small,
                    fmt::format("{} bytes from offset {} are not inside a buffer of {} bytes", size_bytes, offset, capacity));
    }
}

}  // namespace

Buffer Buffer::on_gpu(int device, std::uint64_t size_bytes) {
    const CudaApi& api = cuda();
    const CurrentContext current(primary_context(device));
    CuPointer pointer = 0;
    const CuStatus status = api.mem_alloc(&pointer, std::max(size_bytes, kLeastBytes));
    if (status == kCudaOutOfMemory) {
        throw Error(ErrorCode::out_of_memory, fmt::format("GPU {} has no {} bytes free", device, size_bytes), native_cuda(status));
    }
    check_cuda(status, "cuMemAlloc");
    Buffer buffer;
    buffer.data_ = reinterpret_cast<void*>(pointer);
    buffer.size_bytes_ = size_bytes;
    buffer.device_ = device;
    return buffer;
}

Buffer Buffer::on_host(std::uint64_t size_bytes) {
    void* const memory = size_bytes > std::numeric_limits<std::int64_t>::max()
                             ? MAP_FAILED
                             : ::mmap(nullptr, std::max(size_bytes, kLeastBytes), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(ErrorCode::out_of_memory, fmt::format("no {} bytes of host memory can be had", size_bytes));
    }
    constexpr std::uint64_t kHugeFromBytes = 4 << 20;
    if (size_bytes >= kHugeFromBytes) {
        ::madvise(memory, size_bytes, MADV_HUGEPAGE);  // fewer faults on the first read into it
    }
    Buffer buffer;
    buffer.data_ = memory;
    buffer.size_bytes_ = size_bytes;
    return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)),
      device_(std::exchange(other.device_, -1)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(device_, other.device_);
    return *this;
}

Buffer::~Buffer() {
    if (data_ == nullptr) {
        return;
    }
    if (device_ < 0) {
        ::munmap(data_, std::max(size_bytes_, kLeastBytes));
    } else if (const CudaApi* api = cuda_if_loaded()) {
        try {
            const CurrentContext current(primary_context(device_));
            api->mem_free(reinterpret_cast<CuPointer>(data_));
        } catch (...) {  // the driver is shutting down, and frees it all
        }
    }
}

void Buffer::copy_to_host(void* destination, std::uint64_t offset, std::uint64_t size_bytes) const {
    check_inside(offset, size_bytes, size_bytes_);
    auto* const source = static_cast<std::byte*>(data_) + offset;
    if (device_ < 0) {
        std::copy_n(source, size_bytes, static_cast<std::byte*>(destination));
        return;
    }
    const CurrentContext current(primary_context(device_));
    check_cuda(cuda().copy_to_host(destination, reinterpret_cast<CuPointer>(source), size_bytes), "cuMemcpyDtoH");
}

void Buffer::copy_from_host(const void* source, std::uint64_t offset, std::uint64_t size_bytes) {
    check_inside(offset, size_bytes, size_bytes_);
    auto* const destination = static_cast<std::byte*>(data_) + offset;
    if (device_ < 0) {
        std::copy_n(static_cast<const std::byte*>(source), size_bytes, destination);
        return;
    }
    const CurrentContext current(primary_context(device_));
    check_cuda(cuda().copy_to_device(reinterpret_cast<CuPointer>(destination), source, size_bytes), "cuMemcpyHtoD");
}

RegisteredBuffer RegisteredBuffer::add(void* pointer, std::uint64_t size_bytes, const SettingLayers& layers) {
    if (pointer == nullptr || size_bytes == 0) {
        throw Error(ErrorCode::null_pointer, "nothing to register: the address is null or the size is 0");
    }
    const PointerOwner owner = find_owner(pointer);
    if (owner.memory != MemoryKind::device) {
        throw Error(ErrorCode::bad_pointer, fmt::format("only device memory can be registered with cuFile; this is {} memory",
                                                        to_text(owner.memory)));
    }
    const CurrentContext current(owner.context);
    check_cufile(open_cufile(layers).api.buffer_register(pointer, size_bytes, 0), "cuFileBufRegister");
    remember_registration(pointer, size_bytes);
    return RegisteredBuffer(pointer, size_bytes);
}

RegisteredBuffer::RegisteredBuffer(RegisteredBuffer&& other) noexcept
    : pointer_(std::exchange(other.pointer_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

RegisteredBuffer& RegisteredBuffer::operator=(RegisteredBuffer&& other) noexcept {
    std::swap(pointer_, other.pointer_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
}

RegisteredBuffer::~RegisteredBuffer() {
    if (pointer_ == nullptr) {
        return;
    }
    forget_registration(pointer_);
    const CufileDriver* driver = cuda_lost_by_fork() ? nullptr : cufile_if_open();
    if (driver != nullptr) {
        driver->api.buffer_deregister(pointer_);
    }
}

std::uint64_t free_staging_memory() noexcept {
    return SlotPool::instance().free_unused();
}

}  // namespace waybill
