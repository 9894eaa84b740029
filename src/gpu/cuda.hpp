// NVIDIA's driver library, loaded at run time: the calls that Waybill makes, declared here so that no toolkit is needed.
//
// The signatures follow the CUDA driver API reference; tests/gpu/abi_test.cpp checks them and the names in cuda_entries.hpp
// against cuda.h where one is present. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "waybill/error.hpp"

namespace waybill {

using CuStatus = int;
using CuDevice = int;
using CuContext = void*;
using CuStream = void*;
using CuEvent = void*;
using CuPointer = unsigned long long;

inline constexpr CuStatus kCudaSuccess = 0;
inline constexpr CuStatus kCudaInvalidValue = 1;
inline constexpr CuStatus kCudaOutOfMemory = 2;
inline constexpr CuStatus kCudaNotInitialized = 3;
inline constexpr CuStatus kCudaNoDevice = 100;
inline constexpr CuStatus kCudaNotReady = 600;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1;
inline constexpr int kCaptureModeRelaxed = 2;
inline constexpr int kMemoryTypeDevice = 2;

// CUpointer_attribute
inline constexpr int kPointerContext = 1;
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeSize = 12;

// CUdevice_attribute
inline constexpr int kDeviceGpuDirectRdma = 116;

// CUmemLocationType
inline constexpr int kLocationDevice = 1;
inline constexpr int kLocationHost = 2;
// CUmemcpySrcAccessOrder: the source is read when the stream comes to the copy.
inline constexpr int kSourceInStreamOrder = 1;

struct CuLocation {
    int type = 0;
    int id = 0;
};

// CUmemcpyAttributes
struct CuCopyAttributes {
    int source_access_order = 0;
    CuLocation source;
    CuLocation destination;
    unsigned flags = 0;
};

struct CuUuid {
    unsigned char bytes[16];
};

// The entry points, all bound or none: a library that lacks one is not used.
struct CudaApi {
    CuStatus (*init)(unsigned flags);
    CuStatus (*device_get)(CuDevice* device, int ordinal);
    CuStatus (*device_count)(int* count);
    CuStatus (*device_name)(char* name, int length, CuDevice device);
    CuStatus (*device_uuid)(CuUuid* uuid, CuDevice device);
    CuStatus (*device_attribute)(int* value, int attribute, CuDevice device);
    CuStatus (*device_pci_bus_id)(char* address, int length, CuDevice device);
    CuStatus (*primary_context_retain)(CuContext* context, CuDevice device);
    CuStatus (*context_current)(CuContext* context);
    CuStatus (*context_push)(CuContext context);
    CuStatus (*context_pop)(CuContext* context);
    CuStatus (*mem_alloc)(CuPointer* pointer, std::size_t size_bytes);
    CuStatus (*mem_free)(CuPointer pointer);
    CuStatus (*host_register)(void* pointer, std::size_t size_bytes, unsigned flags);
    CuStatus (*host_unregister)(void* pointer);
    CuStatus (*copy_to_device)(CuPointer destination, const void* source, std::size_t size_bytes);
    CuStatus (*copy_to_host)(void* destination, CuPointer source, std::size_t size_bytes);
    CuStatus (*copy_to_device_async)(CuPointer destination, const void* source, std::size_t size_bytes, CuStream stream);
    CuStatus (*copy_to_host_async)(void* destination, CuPointer source, std::size_t size_bytes, CuStream stream);
    // Many copies in one call, never on the legacy stream. May be null: CUDA before 13.0 (12.8 has it with another signature).
    CuStatus (*copy_batch_async)(CuPointer* destinations, CuPointer* sources, std::size_t* sizes, std::size_t count,
                                 CuCopyAttributes* attributes, std::size_t* attribute_starts, std::size_t attribute_count, CuStream stream);
    CuStatus (*stream_create)(CuStream* stream, unsigned flags);
    CuStatus (*stream_synchronize)(CuStream stream);
    CuStatus (*stream_query)(CuStream stream);
    CuStatus (*stream_wait_event)(CuStream stream, CuEvent event, unsigned flags);
    CuStatus (*stream_is_capturing)(CuStream stream, int* status);
    CuStatus (*event_create)(CuEvent* event, unsigned flags);
    CuStatus (*event_destroy)(CuEvent event);
    CuStatus (*event_record)(CuEvent event, CuStream stream);
    CuStatus (*event_synchronize)(CuEvent event);
    CuStatus (*pointer_attributes)(unsigned count, int* attributes, void** values, CuPointer pointer);
    CuStatus (*exchange_capture_mode)(int* mode);
    CuStatus (*error_name)(CuStatus status, const char** name);
    CuStatus (*context_id)(CuContext context, unsigned long long* id);  // may be null: CUDA before 12.0
};

// The driver library when this process has it already, else null. Never loads or initialises anything. After a fork of a
// process that had initialised CUDA, null as well: see cuda_lost_by_fork().
[[nodiscard]] const CudaApi* cuda_if_loaded() noexcept;

// Loads and initialises on first need. Throws Error no_gpu (no driver, no GPU), cuda_error, fork_after_cuda.
[[nodiscard]] const CudaApi& cuda();

// True in a child whose parent had initialised CUDA before the fork: no GPU call can work there.
[[nodiscard]] bool cuda_lost_by_fork() noexcept;
[[noreturn]] void throw_fork_after_cuda();

// Nanoseconds spent in cuInit and in making contexts by this process, since they were last taken.
[[nodiscard]] std::uint64_t take_cuda_init_ns() noexcept;
[[nodiscard]] std::uint64_t take_context_ns() noexcept;

// The device's primary context, retained once and kept for the life of the process.
[[nodiscard]] CuContext primary_context(int device);

// {cuda, 2, "CUDA_ERROR_OUT_OF_MEMORY"}
[[nodiscard]] NativeCode native_cuda(CuStatus status);
// Throws Error cuda_error (out_of_memory for that status) unless `status` is success. `call` is the entry point's name.
void check_cuda(CuStatus status, const char* call);

// Makes `context` current for this thread and puts back what was current. A null context is a no-op.
class CurrentContext {
public:
    explicit CurrentContext(CuContext context);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    bool pushed_ = false;
};

// While it lives, calls that are unsafe during another thread's graph capture are allowed on this thread (relaxed mode).
class RelaxedCapture {
public:
    explicit RelaxedCapture(const CudaApi& api) noexcept;
    ~RelaxedCapture();
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    const CudaApi& api_;
    int mode_ = kCaptureModeRelaxed;
};

}  // namespace waybill
