#include "settings/cufile_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr CufileKey flag(std::string_view path, bool built_in, std::string_view meaning, int since = 0) {
    return {.path = path, .type = CufileType::boolean, .built_in = built_in ? "true" : "false", .meaning = meaning, .since = since};
}
constexpr CufileKey number(std::string_view path, std::string_view built_in, std::int64_t least, std::int64_t most, std::string_view meaning,
                           int since = 0) {
    return {.path = path, .type = CufileType::integer, .built_in = built_in, .meaning = meaning, .since = since, .least = least, .most = most};
}
constexpr CufileKey word(std::string_view path, std::string_view built_in, std::string_view words, std::string_view meaning, int since = 0) {
    return {.path = path, .type = CufileType::word, .built_in = built_in, .meaning = meaning, .since = since, .words = words};
}
constexpr CufileKey plain(std::string_view path, CufileType type, std::string_view built_in, std::string_view meaning, int since = 0) {
    return {.path = path, .type = type, .built_in = built_in, .meaning = meaning, .since = since};
}
constexpr CufileKey shipped(CufileKey key, std::string_view value) {
    key.shipped = value;
    return key;
}
constexpr CufileKey by(std::string_view variable, CufileKey key) {
    key.variable = variable;
    return key;
}
constexpr CufileKey until(int version, CufileKey key) {
    key.until = version;
    return key;
}
constexpr CufileKey in_steps(std::int64_t multiple, CufileKey key) {
    key.multiple = multiple;
    return key;
}
constexpr CufileKey from(std::int64_t least, CufileKey key) {
    key.least = least;
    return key;
}
constexpr CufileKey one_of_these(std::string_view words, CufileKey key) {
    key.words = words;
    key.words_checked = true;
    return key;
}
constexpr CufileKey unchecked(CufileKey key) {
    key.range_checked = false;
    return key;
}
constexpr CufileKey ascending(CufileKey key) {
    key.ascending = true;
    return key;
}
constexpr CufileKey not_heard(CufileKey key) {
    key.heard = false;
    return key;
}

constexpr std::string_view kP2pdma = "P2PDMA on this kind of device or file system, if properties.use_pci_p2pdma is true too";
constexpr std::string_view kAddresses = "addresses of the network cards that serve this file system";
constexpr std::string_view kMounts = "mount points, which must exist, each with its list of network card addresses";
constexpr std::string_view kSmall = "reads and writes smaller than this (KiB) go through POSIX calls";
constexpr CufileType kTexts = CufileType::texts;
constexpr CufileType kIntegers = CufileType::integers;
constexpr std::int64_t kMost32 = 4294967295;
constexpr std::int64_t kMost31 = 2147483647;

constexpr std::array kKeys{
    plain("logging.dir", CufileType::text, "\"\"", "folder of cufile.log, which must exist; empty: the current one"),
    by("CUFILE_LOGGING_LEVEL", word("logging.level", "\"ERROR\"", "NOTICE|ERROR|WARN|INFO|DEBUG|TRACE", "what is logged")),
    by("CUFILE_LOGFILE_MAX_SIZE_MB", number("logging.max_file_size_mb", "32", -1, 4096, "size at which a log begins anew; -1: never", 1180)),
    by("CUFILE_NVTX", until(1160, flag("profile.nvtx", false, "NVTX ranges (newer versions always make them)"))),
    by("CUFILE_STATS_LEVEL", unchecked(number("profile.cufile_stats", "0", 0, 3, "level of statistics for gds_stats"))),
    number("execution.max_io_queue_depth", "128", 1, 256, "most pieces of work that may wait"),
    shipped(number("execution.max_io_threads", "8", 0, 128, "threads for each GPU that work on the pieces; 0: none"), "4"),
    flag("execution.parallel_io", true, "split a large request into pieces for several threads"),
    shipped(number("execution.min_io_threshold_size_kb", "1024", 4, kMost32, "requests up to this size (KiB) are not split"), "8192"),
    number("execution.max_request_parallelism", "4", 0, 8, "most pieces of one request"),
    shipped(in_steps(64, number("properties.max_direct_io_size_kb", "16384", 64, 16384, "largest single transfer (KiB)")), "16384"),
    by("CUFILE_MAX_DEVICE_CACHE_SIZE", in_steps(4, number("properties.max_device_cache_size_kb", "131072", 0, kNoLimit,
                                                          "GPU memory for bounce buffers (KiB)"))),
    by("CUFILE_PER_BUFFER_CACHE_SIZE", in_steps(64, number("properties.per_buffer_cache_size_kb", "1024", 64, 16384, "one bounce buffer (KiB)"))),
    unchecked(ascending(from(4, in_steps(4, plain("properties.gpu_bounce_buffer_slab_config.slab_size_kb", kIntegers, "[]",
                                                  "sizes of bounce buffers (KiB), ascending; instead of the three keys before", 1170))))),
    unchecked(from(1, plain("properties.gpu_bounce_buffer_slab_config.slab_count", kIntegers, "[]", "how many of each size", 1170))),
    shipped(number("properties.max_device_pinned_mem_size_kb", "18014398509481980", 0, kNoLimit, "most GPU memory that may be pinned (KiB)"),
            "33554432"),
    from(4, in_steps(4, plain("properties.posix_pool_slab_size_kb", kIntegers, "[4, 1024, 16384]",
                              "sizes of host buffers (KiB) of the compatibility mode"))),
    from(0, plain("properties.posix_pool_slab_count", kIntegers, "[128, 64, 64]", "how many of each size")),
    flag("properties.use_poll_mode", false, "poll for the end of small transfers"),
    in_steps(4, number("properties.poll_mode_max_size_kb", "4", 4, 18014398509481980, "largest transfer that is polled for (KiB)")),
    by("CUFILE_USE_PCIP2PDMA", flag("properties.use_pci_p2pdma", false, "allow PCI peer-to-peer DMA in place of nvidia-fs")),
    by("CUFILE_ALLOW_COMPAT_MODE", flag("properties.allow_compat_mode", true, "stage through host memory where no direct path exists")),
    by("CUFILE_FORCE_COMPAT_MODE", flag("properties.force_compat_mode", false, "always stage through host memory")),
    not_heard(plain("properties.use_compat_mode", CufileType::anything, "true", "name in the log of allow_compat_mode")),
    flag("properties.force_odirect_mode", false, "open files with O_DIRECT even if the caller did not"),
    flag("properties.prefer_iouring", false, "io_uring in the compatibility mode"),
    number("properties.io_batchsize", "128", 1, 256, "most requests of one batch"),
    not_heard(plain("properties.max_batch_io_size", CufileType::anything, "128", "name in the log of io_batchsize")),
    number("properties.max_batch_io_timeout_msecs", "5", 1, 1000, "longest wait for a batch to fill"),
    by("CUFILE_IO_PRIORITY", word("properties.io_priority", "\"default\"", "default|low|med|high", "priority of reads and writes")),
    flag("properties.allow_system_memory", true, "host memory in cuFile's calls"),
    until(1190, flag("properties.posix_io_mode", false, "plain POSIX calls, without the rules of nvidia-fs", 1170)),
    flag("properties.vanilla_posix_io_mode", false, "plain POSIX calls, without the rules of nvidia-fs", 1190),
    flag("properties.gds_fallback_io", false, "stage a request anew whose direct way failed", 1170),
    flag("properties.compat_odirect_unaligned_read_split", false, "split unaligned reads of the compatibility mode", 1190),
    in_steps(4, number("properties.compat_odirect_unaligned_read_split_min_size_kb", "128", 0, kNoLimit, "from which size on (KiB)", 1190)),
    flag("properties.gds_rdma_write_support", true, "writes by RDMA"),
    plain("properties.rdma_dev_addr_list", kTexts, "[]", "addresses of network cards"),
    word("properties.rdma_load_balancing_policy", "\"RoundRobin\"", "FirstFit|MaxMinFit|RoundRobin|RoundRobinMaxMin|Randomized",
         "which network card is next"),
    not_heard(plain("properties.rdma_peer_affinity_policy", CufileType::anything, "\"RoundRobin\"", "name in the log of rdma_load_balancing_policy")),
    number("properties.rdma_topN_ranks", "1", -kMost31, kMost31, "how many of the nearest network cards are used"),
    one_of_these("nvidia_peermem|dmabuf", word("properties.rdma_peer_type", "\"nvidia_peermem\"", {}, "how network cards reach GPU memory")),
    flag("properties.rdma_dynamic_routing", false, "route over other GPUs or host memory where the direct way is slow"),
    one_of_these("GPU_MEM_NVLINKS|GPU_MEM|SYS_MEM|P2P",
                 plain("properties.rdma_dynamic_routing_order", kTexts, "[\"GPU_MEM_NVLINKS\",\"GPU_MEM\",\"SYS_MEM\",\"P2P\"]",
                       "in which order such routes are tried")),
    by("CUFILE_RDMA_DC_KEY", plain("properties.rdma_dc_key", CufileType::text, "\"\"", "key of RDMA connections")),
    plain("properties.rdma_access_mask", CufileType::text, "\"0x1f\"", "rights of RDMA memory"),
    by("CUFILE_IB_SL", number("properties.rdma_service_level", "0", 0, 15, "service level of RDMA")),
    one_of_these("DC_V1|EXT_RC_V1", word("properties.rdma_transport_type", "\"DC_V1\"", {}, "kind of RDMA connection", 1190)),
    by("CUFILE_RDMA_ALLOW_RDMA_TOKEN_RESET", flag("properties.allow_rdma_token_reset", false, "reset RDMA tokens that were refused", 1190)),
    flag("properties.rdma_multipath_enabled", false, "go over to another network card where one fails", 1180),
    number("properties.rdma_max_backup_devices", "2", 0, kMost32, "how many cards stand by", 1180),
    number("properties.rdma_io_retry_count", "3", 0, kMost32, "how often a request is tried again", 1180),
    number("properties.rdma_io_retry_delay_ms", "100", 0, kMost32, "wait before it is", 1180),
    flag("properties.rdma_failback_enabled", true, "go back to the first card when it works again", 1180),
    number("properties.rdma_failback_delay_ms", "100", 0, kMost32, "wait before that", 1180),
    number("properties.rdma_health_check_interval_ms", "100", 0, kMost32, "how often cards are looked at", 1180),
    flag("properties.rdma_async_event_monitoring", true, "listen to the cards' events", 1180),
    number("properties.rdma_unhealthy_threshold", "3", 0, kMost32, "failures after which a card counts as broken", 1180),
    plain("properties.gpu_bounce_buffer_mode", CufileType::anything, "null", "not documented", 1200),
    flag("fs.generic.posix_unaligned_writes", false, "write unaligned data by POSIX calls"),
    number("fs.lustre.posix_gds_min_kb", "0", 0, 1024, kSmall),
    plain("fs.lustre.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.lustre.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.lustre.use_pci_p2pdma", false, kP2pdma, 1160),
    number("fs.beegfs.posix_gds_min_kb", "0", 0, 1024, kSmall),
    plain("fs.beegfs.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.beegfs.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.beegfs.use_pci_p2pdma", false, kP2pdma, 1160),
    number("fs.scatefs.posix_gds_min_kb", "0", 0, 1024, kSmall),
    plain("fs.scatefs.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.scatefs.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.scatefs.use_pci_p2pdma", false, kP2pdma, 1160),
    plain("fs.nfs.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.nfs.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.nfs.use_pci_p2pdma", false, kP2pdma, 1160),
    shipped(flag("fs.gpfs.gds_write_support", false, "direct writes to Spectrum Scale"), "true"),
    flag("fs.gpfs.gds_async_support", true, "asynchronous calls on Spectrum Scale"),
    plain("fs.gpfs.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.gpfs.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.gpfs.use_pci_p2pdma", false, kP2pdma, 1160),
    plain("fs.panfs.rdma_dev_addr_list", kTexts, "[]", kAddresses, 1190),
    plain("fs.panfs.mount_table", CufileType::map, "{}", kMounts, 1190),
    flag("fs.panfs.use_pci_p2pdma", false, kP2pdma, 1190),
    flag("fs.virtiofs.use_pci_p2pdma", false, kP2pdma, 1160),
    plain("fs.weka.rdma_dev_addr_list", kTexts, "[]", kAddresses),
    plain("fs.weka.mount_table", CufileType::map, "{}", kMounts),
    flag("fs.weka.rdma_write_support", false, "writes by RDMA to WekaFS"),
    flag("block.nvme.use_pci_p2pdma", false, kP2pdma, 1160),
    flag("block.nvmeof.use_pci_p2pdma", false, kP2pdma, 1160),
    flag("block.raid.use_pci_p2pdma", false, kP2pdma, 1160),
    flag("block.raid1.use_pci_p2pdma", false, kP2pdma, 1190),
    flag("block.raid10.use_pci_p2pdma", false, kP2pdma, 1190),
    plain("denylist.drivers", kTexts, "[]", "block drivers without a direct path"),
    plain("denylist.devices", kTexts, "[]", "block devices without a direct path; each must exist, else the driver does not open"),
    plain("denylist.mounts", kTexts, "[]", "mount points without a direct path; each must exist, else the driver does not open"),
    plain("denylist.filesystems", kTexts, "[]", "file systems without a direct path"),
    plain("denylist.fsids", CufileType::anything, "[]", "file systems, by number, without a direct path"),
    shipped(number("sparse.min_p2pdma_threshold_kb", "16", 0, kMost32, "smallest part beside a hole that goes by P2PDMA (KiB)", 1190), "8"),
    flag("sparse.p2p_compat_enable", true, "stage files with holes where P2PDMA cannot", 1190),
    flag("miscellaneous.api_check_aggressive", false, "check the arguments of every call"),
    by("CUFILE_SKIP_TOPOLOGY_DETECTION", flag("miscellaneous.skip_topology_detection", false, "do not look at the PCI bus when the driver opens")),
    by("CUFILE_STREAM_MEMOPS_BYPASS", flag("miscellaneous.stream_memops_bypass", false, "do without stream memory operations")),
    plain("miscellaneous.rcu_library_used", CufileType::text, "\"\"", "library for concurrent tables"),
    flag("miscellaneous.enable_static_routing", false, "take the topology from a file", 1170),
    plain("miscellaneous.static_routing_filepath", CufileType::text, "\"\"", "that file", 1170),
    by("CUFILE_RDMA_TOKEN_RESET_TIMEOUT_SECS", number("miscellaneous.rdma_token_reset_timeout_secs", "30", 1, kMost31,
                                                      "longest wait for a reset token", 1190)),
    flag("miscellaneous.enable_static_config", false, "take the machine's configuration from a file", 1200),
    plain("miscellaneous.static_config_filepath", CufileType::text, "\"\"", "that file", 1200),
};

// Built-in values and limits of versions before `before`, as those libraries log and answer them.
struct Earlier {
    std::string_view path;
    int before = 0;
    std::string_view built_in;  // empty: as now
    std::int64_t most = 0;      // 0: as now
};
constexpr std::array kEarlier{
    Earlier{"execution.max_io_threads", 1160, "0", 32},
    Earlier{"execution.parallel_io", 1160, "false"},
    Earlier{"execution.max_request_parallelism", 1160, "0"},
    Earlier{"properties.max_direct_io_size_kb", 1190, "1024"},
    Earlier{"sparse.p2p_compat_enable", 1200, "false"},
};

const Earlier* earlier(std::string_view path, int version) {
    const auto found = std::find_if(kEarlier.begin(), kEarlier.end(), [&](const Earlier& row) { return row.path == path && version < row.before; });
    return found == kEarlier.end() ? nullptr : &*found;
}

std::string words_text(std::string_view words) {
    std::string text;
    for (const std::string_view each : split(words, '|')) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", each);
    }
    return text;
}

std::string range_text(const CufileKey& key, int version) {
    const std::int64_t most = most_of(key, version);
    std::string text = most == kNoLimit ? fmt::format("of at least {}", key.least) : fmt::format("from {} to {}", key.least, most);
    return key.multiple == 1 ? text : fmt::format("{}, a multiple of {}", text, key.multiple);
}

}  // namespace

std::span<const CufileKey> cufile_keys() {
    return kKeys;
}

const CufileKey* find_cufile_key(std::string_view path) {
    const auto found = std::find_if(kKeys.begin(), kKeys.end(), [&](const CufileKey& key) { return key.path == path; });
    return found == kKeys.end() ? nullptr : &*found;
}

std::string_view built_in_of(const CufileKey& key, int version) {
    const Earlier* row = earlier(key.path, version);
    return row == nullptr || row->built_in.empty() ? key.built_in : row->built_in;
}

std::int64_t most_of(const CufileKey& key, int version) {
    const Earlier* row = earlier(key.path, version);
    return row == nullptr || row->most == 0 ? key.most : row->most;
}

std::string accepted_text(const CufileKey& key, int version) {
    switch (key.type) {
        case CufileType::boolean: return "true or false";
        case CufileType::integer: return "an integer " + range_text(key, version);
        case CufileType::text: return "a text";
        case CufileType::word: return "one of " + words_text(key.words);
        case CufileType::integers: return "a list of integers, each " + range_text(key, version);
        case CufileType::texts: return key.words.empty() ? "a list of texts" : "a list out of " + words_text(key.words);
        case CufileType::map: return "an object";
        case CufileType::anything: break;
    }
    return "anything";
}

std::optional<int> parse_cufile_version(std::string_view text) {
    int numbers[2] = {0, 0};
    const std::vector<std::string_view> words = split(text, '.');
    for (std::size_t k = 0; k < 2; ++k) {
        constexpr std::size_t kMostDigits = 2;
        const bool digits = k < words.size() && !words[k].empty() && words[k].size() <= kMostDigits &&
                            words[k].find_first_not_of("0123456789") == std::string_view::npos;
        if (!digits) {
            return std::nullopt;
        }
        std::from_chars(words[k].data(), words[k].data() + words[k].size(), numbers[k]);
    }
    return 1000 * numbers[0] + 10 * numbers[1];
}

std::string cufile_version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace waybill
