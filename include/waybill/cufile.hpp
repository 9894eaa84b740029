// The properties of NVIDIA's cuFile driver that a program may look at, and those that it may tune.
//
// One driver a process: what is set holds for all of it. Plain values; any thread. Each call opens the driver on first need
// (its library, by the setting cufile_library) and throws Error cufile_unavailable or cufile_error.
#pragma once

#include <cstdint>

#include "waybill/settings.hpp"

namespace waybill {

// What the driver says of itself (cuFileDriverGetProperties); sizes in KiB.
struct CufileProperties {
    unsigned nvidia_fs_major = 0;  // of the kernel module; 0.0: it is not in use
    unsigned nvidia_fs_minor = 0;
    bool poll_mode = false;
    bool allow_compat_mode = false;
    std::uint64_t poll_threshold_kib = 0;
    std::uint64_t device_cache_kib = 0;
    std::uint64_t per_buffer_cache_kib = 0;
    std::uint64_t pinned_memory_kib = 0;
};

// The driver's properties, as they are now. Blocks while the driver opens; throws as above.
[[nodiscard]] CufileProperties cufile_properties(const SettingLayers& layers = {});

// Sets a property of the driver, sizes in KiB: polling for the end of reads up to a size, the memory of a GPU that its buffers may
// take, and the memory that may be pinned for it. What the driver refuses is Error cufile_error.
void set_cufile_polling(bool enable, std::uint64_t threshold_kib, const SettingLayers& layers = {});
void set_cufile_device_cache(std::uint64_t kib, const SettingLayers& layers = {});
void set_cufile_pinned_memory(std::uint64_t kib, const SettingLayers& layers = {});

}  // namespace waybill
