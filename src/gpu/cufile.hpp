// NVIDIA's cuFile library, loaded at run time and only when a route needs it.
//
// One library a process: the first one whose driver opens wins. The driver is opened once, under a time limit, on a
// thread of its own, with descriptors 0 to 2 guarded; where an open is known to hang or to harm, a child process tries
// it first. Layouts and codes follow the cuFile API reference (docs.nvidia.com, "cuFile API Reference Guide") and the
// sizes measured by version; tests/gpu/abi_test.cpp checks them against cufile.h where one is present. Thread-safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "waybill/error.hpp"

namespace waybill {

inline constexpr int kCufileSuccess = 0;
inline constexpr int kCufileCudaError = 5011;

// In a status the CUDA part means something only when the cuFile part is kCufileCudaError.
struct CufileStatus {
    int code = 0;
    int cuda = 0;
};

using CufileHandle = void*;

// How a file is described to cuFileHandleRegister: kind 1 is a descriptor.
struct CufileDescription {
    int kind = 1;
    union {
        int descriptor;
        void* handle;
    };
    const void* operations = nullptr;
};
static_assert(sizeof(CufileDescription) == 24);

// CUfileDrvProps_t, as cuFileDriverGetProperties fills it.
struct CufileDriverProperties {
    struct {
        unsigned major_version = 0;
        unsigned minor_version = 0;
        std::size_t poll_threshold_kib = 0;
        std::size_t direct_io_kib = 0;
        unsigned status_flags = 0;
        unsigned control_flags = 0;
    } nvidia_fs;
    unsigned feature_flags = 0;
    unsigned device_cache_kib = 0;
    unsigned per_buffer_cache_kib = 0;
    unsigned pinned_memory_kib = 0;
    unsigned batch_entries = 0;
    unsigned batch_timeout_ms = 0;
};
static_assert(sizeof(CufileDriverProperties) == 56);

struct CufileApi {
    CufileStatus (*driver_open)();
    CufileStatus (*driver_close)();
    CufileStatus (*handle_register)(CufileHandle* handle, CufileDescription* description);
    void (*handle_deregister)(CufileHandle handle);
    CufileStatus (*buffer_register)(const void* pointer, std::size_t size_bytes, int flags);
    CufileStatus (*buffer_deregister)(const void* pointer);
    ssize_t (*read)(CufileHandle handle, void* base, std::size_t size_bytes, off_t file_offset, off_t buffer_offset);
    ssize_t (*write)(CufileHandle handle, const void* base, std::size_t size_bytes, off_t file_offset, off_t buffer_offset);
    // Null in libraries before 1.16 or so: then there is no evidence by the API.
    CufileStatus (*get_version)(int* version);
    CufileStatus (*set_stats_level)(int level);
    CufileStatus (*get_stats_level)(int* level);
    CufileStatus (*stats_start)();
    CufileStatus (*get_stats_l3)(void* statistics);
    CufileStatus (*get_properties)(CufileDriverProperties* properties);
    CufileStatus (*set_poll_mode)(bool enable, std::size_t threshold_kib);
    CufileStatus (*set_max_cache_size)(std::size_t kib);
    CufileStatus (*set_max_pinned_memory)(std::size_t kib);
};

struct CufileOptions {
    std::string library;                 // path or soname
    std::string json;                    // a cufile.json; empty: the library's own search
    std::uint64_t open_timeout_ns = 0;   // of the driver
    std::uint64_t wait_ns = 0;           // how long this caller waits for the driver; 0: until its open ends
    bool try_in_child_first = false;
    bool statistics = true;  // wanted: they are started at the first call that wants them, and never stopped
};

struct CufileDriver {
    CufileApi api{};
    int version = 0;          // 1000*major + 10*minor; 0 unknown
    std::string path;         // of the loaded library
    std::atomic<bool> statistics{false};  // level 3 is on and started
    std::atomic<const std::string*> statistics_problem{nullptr};  // why it could not be; null: it is, or nobody asked
};

// The open driver; opens it on first need. A failure is kept: the same options fail again at once, others are tried. An open
// that did not return is the end of it: none is tried again in this process.
// Throws Error cufile_unavailable (no library, a name missing, the child or the time limit said no), cufile_error,
// io_error (no descriptor can be had), timeout (the caller's wait ended first: the open goes on, for later callers).
[[nodiscard]] const CufileDriver& cufile_driver(const CufileOptions& options);

// The driver when it is open already, else null.
[[nodiscard]] const CufileDriver* cufile_if_open() noexcept;

// Nanoseconds spent in loading and opening so far.
[[nodiscard]] std::uint64_t cufile_open_ns() noexcept;

// {cufile, 5027, "CU_FILE_HANDLE_NOT_REGISTERED"}, or the CUDA code where that is the cause.
[[nodiscard]] NativeCode native_cufile(CufileStatus status);
// The name and what usually causes it, for messages.
[[nodiscard]] std::string cufile_code_text(int code);
// Throws Error cufile_error unless `status` is success. `call` is the entry point's name.
void check_cufile(CufileStatus status, const char* call);

// The name of a result of cuFileRead or cuFileWrite below -1: minus a cuFile code.
[[nodiscard]] NativeCode native_cufile_result(ssize_t result);

}  // namespace waybill
