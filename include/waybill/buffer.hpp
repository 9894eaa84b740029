// Buffer: memory that Waybill allocates, on a GPU or on the host.
//
// Owner of its memory; moveable, not copyable. Any thread may use the pointer; freeing waits for no request, so keep the
// Buffer (or share it through Target::owner) until the request is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waybill/facts.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

// Memory of a size that does not change. An empty one has no memory and no device.
class Buffer {
public:
    Buffer() noexcept = default;
    // `device` >= 0: memory of that GPU, in its primary context. Throws Error no_gpu, out_of_memory, cuda_error.
    [[nodiscard]] static Buffer on_gpu(int device, std::uint64_t size_bytes);
    // Page-aligned pageable memory. Throws Error out_of_memory.
    [[nodiscard]] static Buffer on_host(std::uint64_t size_bytes);
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    // The address (of the GPU, or of the host), null when empty; sizes in bytes.
    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
    [[nodiscard]] int device() const noexcept { return device_; }  // -1 on the host

    // Copies [offset, offset + size_bytes) into host memory. Blocks. Throws Error cuda_error.
    void copy_to_host(void* destination, std::uint64_t offset, std::uint64_t size_bytes) const;
    // The reverse, into [offset, offset + size_bytes) of the buffer. Both throw destination_too_small for a range outside of it.
    void copy_from_host(const void* source, std::uint64_t offset, std::uint64_t size_bytes);

private:
    void* data_ = nullptr;
    std::uint64_t size_bytes_ = 0;
    int device_ = -1;
};

// A registration of device memory with cuFile, which changes how cuFile moves and splits. Ends with the object.
// Moveable, not copyable; requests into the range may run on any thread while it lives.
class RegisteredBuffer {
public:
    // Loads libcufile and opens its driver. Throws Error cufile_unavailable, cufile_error (with the native code),
    // bad_pointer, null_pointer.
    [[nodiscard]] static RegisteredBuffer add(void* pointer, std::uint64_t size_bytes, const SettingLayers& layers = {});
    RegisteredBuffer(RegisteredBuffer&& other) noexcept;
    RegisteredBuffer& operator=(RegisteredBuffer&& other) noexcept;
    RegisteredBuffer(const RegisteredBuffer&) = delete;
    RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;
    ~RegisteredBuffer();

private:
    RegisteredBuffer(void* pointer, std::uint64_t size_bytes) noexcept : pointer_(pointer), size_bytes_(size_bytes) {}
    void* pointer_ = nullptr;
    std::uint64_t size_bytes_ = 0;
};

// Frees the pinned memory that Waybill keeps warm for staged requests and that none uses now; returns its bytes. Any thread.
std::uint64_t free_staging_memory() noexcept;

// The GPUs this process sees, in CUDA's order; empty without a driver or a GPU. Loads libcuda and initialises it.
[[nodiscard]] std::vector<GpuFacts> list_gpus();

// The device that a name means, as CUDA numbers it for this process; -1 for the host's memory. `name`: host or cpu; gpu or cuda
// (GPU 0); a number, a UUID (GPU-..., or as much of it as no other has) or a PCI address, each with gpu: before it or not.
// Asks the driver for UUIDs and addresses alone: a number is taken as it is. Throws Error invalid_argument, no_gpu. Any thread.
[[nodiscard]] int find_device(const std::string& name);

}  // namespace waybill
