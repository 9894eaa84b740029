#include "waybill/cufile.hpp"

#include "io/open_cufile.hpp"

namespace waybill {
namespace {

// Bits of control_flags (cuFile API reference: CUfileDriverControlFlags_t).
constexpr unsigned kUsePollMode = 1U << 0;
constexpr unsigned kAllowCompatMode = 1U << 1;

// Absent in old libraries.
template <class Function>
Function needed(Function function, const char* call) {
    if (function == nullptr) {
        throw Error(ErrorCode::cufile_unavailable, std::string("this libcufile has no entry point ") + call);
    }
    return function;
}

}  // namespace

CufileProperties cufile_properties(const SettingLayers& layers) {
    CufileDriverProperties raw;
    check_cufile(needed(open_cufile(layers).api.get_properties, "cuFileDriverGetProperties")(&raw), "cuFileDriverGetProperties");
    CufileProperties properties;
    properties.nvidia_fs_major = raw.nvidia_fs.major_version;
    properties.nvidia_fs_minor = raw.nvidia_fs.minor_version;
    properties.poll_mode = (raw.nvidia_fs.control_flags & kUsePollMode) != 0;
    properties.allow_compat_mode = (raw.nvidia_fs.control_flags & kAllowCompatMode) != 0;
    properties.poll_threshold_kib = raw.nvidia_fs.poll_threshold_kib;
    properties.device_cache_kib = raw.device_cache_kib;
    properties.per_buffer_cache_kib = raw.per_buffer_cache_kib;
    properties.pinned_memory_kib = raw.pinned_memory_kib;
    return properties;
}

void set_cufile_polling(bool enable, std::uint64_t threshold_kib, const SettingLayers& layers) {
    check_cufile(needed(open_cufile(layers).api.set_poll_mode, "cuFileDriverSetPollMode")(enable, threshold_kib),
                 "cuFileDriverSetPollMode");
}

void set_cufile_device_cache(std::uint64_t kib, const SettingLayers& layers) {
    check_cufile(needed(open_cufile(layers).api.set_max_cache_size, "cuFileDriverSetMaxCacheSize")(kib), "cuFileDriverSetMaxCacheSize");
}

void set_cufile_pinned_memory(std::uint64_t kib, const SettingLayers& layers) {
    check_cufile(needed(open_cufile(layers).api.set_max_pinned_memory, "cuFileDriverSetMaxPinnedMemSize")(kib),
                 "cuFileDriverSetMaxPinnedMemSize");
}

}  // namespace waybill
