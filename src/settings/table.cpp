#include "settings/table.hpp"

#include <limits>
#include <utility>

#include "base/forks.hpp"
#include "base/text.hpp"
#include "settings/parse.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMostSize = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kKiB = 1024;

template <class T>
std::string text_of(const T& value) {
    return std::string(to_text(value));
}
std::string text_of(std::uint64_t bytes) { return exact_size_text(bytes); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& text) { return text; }

// A row for the field `Field`, whose texts `Parse` understands and `Text` writes.
template <auto Field, auto Parse, auto Text>
SettingEntry row(std::string_view name, std::string_view variable, std::vector<std::string_view> kvikio_variables,
                 std::string_view accepted, std::string_view default_text, std::string_view meaning, std::string_view source) {
    return {name,
            variable,
            std::move(kvikio_variables),
            accepted,
            default_text,
            meaning,
            source,
            [](Settings& settings, std::string_view text, Origin origin, const std::string& where) {
                (settings.*Field) = {Parse(text), origin, where};
            },
            [](const Settings& settings) -> std::string { return Text((settings.*Field).value); },
            [](const Settings& settings) { return (settings.*Field).origin; },
            [](const Settings& settings) { return (settings.*Field).where; }};
}

constexpr auto kText = [](const auto& value) { return text_of(value); };
constexpr auto kAutoOrCount = [](std::uint64_t count) { return count == 0 ? std::string("auto") : std::to_string(count); };
constexpr auto kPlainNumber = [](std::uint64_t number) { return std::to_string(number); };
constexpr auto kDuration = [](std::uint64_t ns) {
    if (ns == 0) {
        return std::string("none");
    }
    // In the largest unit that leaves nothing over, as parse_duration() reads it back.
    for (const auto& [unit_ns, name] : {std::pair{1'000'000'000ULL, "s"}, {1'000'000ULL, "ms"}, {1'000ULL, "us"}}) {
        if (ns % unit_ns == 0) {
            return std::to_string(ns / unit_ns) + name;
        }
    }
    return std::to_string(ns) + "ns";
};

constexpr auto kAnySize = [](std::string_view text) { return parse_size_between(text, 0, kMostSize); };
constexpr auto kTaskSize = [](std::string_view text) { return parse_size_between(text, 1, kMostSize); };
constexpr auto kSlotSize = [](std::string_view text) { return parse_size_between(text, 1, kKiB * kKiB * kKiB); };
constexpr auto kPinnedLimit = [](std::string_view text) { return parse_size_between(text, 4 * kKiB, kMostSize); };
constexpr auto kShare = [](std::string_view text) { return parse_size_between(text, 1, 100); };
constexpr auto kThreads = [](std::string_view text) -> std::uint64_t {
    return lower(trim(text)) == "auto" ? 0 : parse_size_between(text, 1, 1024);
};
constexpr auto kOnOff = [](std::string_view text) {
    const std::string word = lower(trim(text));
    return word == "on" || (word != "off" && parse_bool(text));
};
constexpr auto kOnOffText = [](bool value) { return std::string(value ? "on" : "off"); };
constexpr auto kAnyText = [](std::string_view text) { return std::string(trim(text)); };
constexpr auto kFolder = [](std::string_view text) { return trim(text).empty() ? std::string("/") : std::string(trim(text)); };
// KvikIO's switch for direct reads asks for the device, whatever is cached.
constexpr auto kPageCache = [](std::string_view text) {
    const std::string word = lower(trim(text));
    if (word == "true" || word == "yes" || word == "1") {
        return PageCacheUse::direct;
    }
    return word == "false" || word == "no" || word == "0" ? PageCacheUse::automatic : parse_page_cache(text);
};

std::vector<SettingEntry> make_table() {
    return {
        row<&Settings::compat_mode, &parse_compat_mode, kText>(
            "compat_mode", "WAYBILL_COMPAT_MODE", {"KVIKIO_COMPAT_MODE"}, "auto, on (true, yes, 1), off (false, no, 0)", "auto",
            "auto calls cuFile only where a direct path exists; on never calls it; off always does, or fails saying why.",
            "as KvikIO's name; auto never takes cuFile's own compatibility mode, which was measured to be slower than staging"),
        row<&Settings::gds_threshold, kAnySize, kText>(
            "gds_threshold", "WAYBILL_GDS_THRESHOLD", {"KVIKIO_GDS_THRESHOLD"}, "0 or a size", "16KiB",
            "GPU requests smaller than this are staged and never handed to cuFile.", "KvikIO's default"),
        row<&Settings::task_size, kTaskSize, kText>("task_size", "WAYBILL_TASK_SIZE", {"KVIKIO_TASK_SIZE"}, "a size of at least 1",
                                                    "4MiB", "What is handed to an engine in one go.", "KvikIO's default"),
        row<&Settings::num_threads, kThreads, kAutoOrCount>(
            "num_threads", "WAYBILL_NUM_THREADS", {"KVIKIO_NTHREADS", "KVIKIO_NUM_THREADS"}, "auto, or 1 to 1024", "auto",
            "Threads that move one request's bytes; auto takes three quarters of the cores, at most 12.",
            "measured: staging nears a PCIe 5 link's speed with twelve"),
        row<&Settings::bounce_buffer_size, kSlotSize, kText>(
            "bounce_buffer_size", "WAYBILL_BOUNCE_BUFFER_SIZE", {"KVIKIO_BOUNCE_BUFFER_SIZE"}, "1 to 1GiB", "4MiB",
            "Bytes of one pinned slot that staged reads and writes pass through.",
            "measured: slots under 1 MiB lose with many threads, larger ones cost cache"),
        row<&Settings::pinned_limit, kPinnedLimit, kText>("pinned_limit", "WAYBILL_PINNED_LIMIT", {}, "a size of at least 4KiB",
                                                          "128MiB", "Bytes of pinned memory in all; one slot can always be had.",
                                                          "two slots for each of sixteen threads"),
        row<&Settings::page_cache, kPageCache, kText>(
            "page_cache", "WAYBILL_PAGE_CACHE", {"KVIKIO_AUTO_DIRECT_IO_READ"}, "auto, use, bypass, direct", "auto",
            "use reads through the page cache; bypass takes what is cached and adds nothing; direct always reads the device; "
            "auto fills the cache where a cold file fits in half of the free memory, else bypasses it.",
            "a second read of a file that fits is then hot"),
        row<&Settings::cached_share, kShare, kPlainNumber>(
            "cached_share", "WAYBILL_CACHED_SHARE", {}, "1 to 100 (per cent)", "90",
            "A range counts as cached from this share of its pages on, and is then staged rather than read directly.",
            "a hot range stages at the link's speed, faster than a drive"),
        row<&Settings::direct_write, &parse_bool, kText>(
            "direct_write", "WAYBILL_DIRECT_WRITE", {"KVIKIO_AUTO_DIRECT_IO_WRITE"}, "true or false", "false",
            "Write the aligned part of a request with O_DIRECT.", "the page cache takes writes faster than a drive"),
        row<&Settings::cufile_library, kAnyText, kText>("cufile_library", "WAYBILL_CUFILE_LIBRARY", {}, "a soname or a path",
                                                        "libcufile.so.0", "NVIDIA's cuFile library.", "the soname of all versions"),
        row<&Settings::cufile_json, kAnyText, kText>("cufile_json", "WAYBILL_CUFILE_JSON", {}, "a path, or empty", "",
                                                     "A cufile.json for the library; empty leaves its own search.", "cuFile's rule"),
        row<&Settings::evidence, &parse_evidence, kText>(
            "evidence", "WAYBILL_EVIDENCE", {}, "off, auto, on", "auto",
            "on reads every counter at each request; auto leaves those out that would cost a small request over 1 %.",
            "cost measured in bench/"),
        row<&Settings::require_evidence, &parse_judgement, kText>(
            "require_evidence", "WAYBILL_REQUIRE_EVIDENCE", {}, "proved, consistent", "proved",
            "What a required path must be at least, by its evidence.", "only counters prove a path"),
        row<&Settings::machine_root, kFolder, kText>("machine_root", "WAYBILL_MACHINE_ROOT", {}, "a folder", "/",
                                                     "The folder that stands for / when facts of the machine are read.", ""),
        row<&Settings::driver_timeout, &parse_time_over_zero, kDuration>("driver_timeout", "WAYBILL_DRIVER_TIMEOUT", {},
                                                                   "a time over zero, such as 10s", "10s", "How long cuFile's driver may take to open.",
                                                                   "an open takes about 0.2 s; known faults spin for ever"),
        row<&Settings::time_limit, &parse_time_limit, kDuration>("time_limit", "WAYBILL_TIME_LIMIT", {},
                                                                 "a time over zero such as 30s, or none", "none", "How long one blocking request may take.", ""),
        row<&Settings::stats, kOnOff, kOnOffText>("stats", "WAYBILL_STATS", {}, "on or off", "on",
                                                  "Count this process's requests in shared memory, which `waybill stats` reads.",
                                                  "costs under 1 % of a 4 KiB read (bench/stats_overhead.cpp)"),
        row<&Settings::receipts, kAnyText, kText>("receipts", "WAYBILL_RECEIPTS", {}, "stderr, a file's path, or empty", "",
                                                  "Where every receipt is appended as a line of JSON.", ""),
    };
}

}  // namespace

const std::vector<SettingEntry>& setting_table() {
    const ForkHold hold;
    static const auto& table = *new std::vector<SettingEntry>(make_table());
    return table;
}

const SettingEntry* find_setting(std::string_view name) {
    for (const SettingEntry& entry : setting_table()) {
        if (entry.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace waybill
