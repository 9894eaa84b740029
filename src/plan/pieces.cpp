#include "plan/pieces.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "settings/cufile_keys.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

// Those whose grids are in tests/plan/grids.
constexpr int kMeasured[] = {1150, 1160, 1170, 1180, 1190, 1200};

// Every rule below was fitted to the grids: 1.15 to 1.20, NVIDIA's shipped keys and 22 other sets, 27 sizes.
constexpr std::uint64_t kShareMultiple = 64 * kKiB;  // of a registered destination's shares
constexpr std::uint64_t kLeastTail = kMiB;           // up to this, the rest joins an unregistered destination's last piece

std::uint64_t built_in_number(std::string_view key, int version) {
    const std::string_view text = built_in_of(*find_cufile_key(key), version);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::uint64_t divide_up(std::uint64_t bytes, std::uint64_t by) { return bytes / by + (bytes % by != 0 ? 1 : 0); }

Shares split_registered(std::uint64_t size_bytes, std::uint64_t threshold, std::uint64_t most) {
    const std::uint64_t share = divide_up(size_bytes, most);
    const std::uint64_t each = share <= threshold ? threshold : divide_up(share, kShareMultiple) * kShareMultiple;
    const std::uint64_t count = divide_up(size_bytes, each);
    return {count, std::min(each, size_bytes), size_bytes - (count - 1) * each};
}

Shares split_unregistered(std::uint64_t size_bytes, std::uint64_t threshold, std::uint64_t most) {
    const std::uint64_t each = std::max(threshold, size_bytes / most);
    if (size_bytes <= kLeastTail || size_bytes - kLeastTail <= each) {
        return {1, size_bytes, size_bytes};
    }
    const std::uint64_t before_last = (size_bytes - kLeastTail - 1) / each;
    return {before_last + 1, each, size_bytes - before_last * each};
}

// The smallest buffer of the pool that holds so much.
std::uint64_t pool_buffer(std::uint64_t bytes) {
    for (const std::uint64_t buffer : {4 * kKiB, kMiB, 16 * kMiB}) {
        if (buffer >= bytes) {
            return buffer;
        }
    }
    return bytes;
}

}  // namespace

int nearest_measured_version(std::optional<int> version) {
    const int* found = std::end(kMeasured) - 1;
    while (version && found != std::begin(kMeasured) && *found > *version) {
        --found;
    }
    return *found;
}

Execution built_in_execution(int version) {
    return {built_in_number("execution.max_io_threads", version), built_in_number("execution.max_request_parallelism", version),
            built_in_number("execution.min_io_threshold_size_kb", version) * kKiB,
            built_in_of(*find_cufile_key("execution.parallel_io"), version) == "true",
            built_in_number("properties.max_direct_io_size_kb", version) * kKiB};
}

Execution execution_of(const CufileConfig& config, int version) {
    if (config.file.empty()) {
        return built_in_execution(version);
    }
    return {config.max_io_threads, config.max_request_parallelism, config.min_io_threshold_bytes, config.parallel_io,
            config.max_direct_io_bytes};
}

std::optional<int> cufile_version(const CufileFacts& cufile, const CufileUse& use) {
    return use.version || !cufile.version.known() ? use.version : std::optional(cufile.version.value);
}

Execution execution_in_force(const CufileFacts& cufile, const CufileUse& use) {
    return execution_of(cufile.config, nearest_measured_version(cufile_version(cufile, use)));
}

Shares split_task(std::uint64_t size_bytes, const Execution& execution, bool registered) {
    if (size_bytes == 0) {
        return {};
    }
    const std::uint64_t most = std::min(execution.threads, execution.parallelism);
    if (!execution.parallel_io || most <= 1) {
        return {1, size_bytes, size_bytes};
    }
    const std::uint64_t threshold = std::max<std::uint64_t>(1, execution.threshold_bytes);
    return registered ? split_registered(size_bytes, threshold, most) : split_unregistered(size_bytes, threshold, most);
}

std::uint64_t count_device_reads(const Shares& pieces, const Execution& execution, bool registered) {
    if (pieces.count == 0) {
        return 0;
    }
    const std::uint64_t wanted = std::max<std::uint64_t>(1, execution.direct_io_bytes);
    const std::uint64_t most = registered ? wanted : pool_buffer(wanted);
    return (pieces.count - 1) * divide_up(pieces.size_bytes, most) + divide_up(pieces.last_bytes, most);
}

}  // namespace waybill
