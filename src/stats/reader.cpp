#include "stats/reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "stats/sequence.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::string text_of(std::span<const std::uint64_t> words) {
    std::string text(words.size_bytes(), '\0');
    std::memcpy(text.data(), words.data(), text.size());
    return printable(text.substr(0, text.find('\0')));
}

// As nvidia-smi writes it.
std::string uuid_text(std::span<const std::uint64_t> words) {
    std::array<unsigned char, 16> bytes{};
    std::memcpy(bytes.data(), words.data(), std::min(bytes.size(), words.size_bytes()));
    if (std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; })) {
        return {};
    }
    std::string text = "GPU-";
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        text += fmt::format("{}{:02x}", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", bytes[k]);
    }
    return text;
}

std::uint64_t value(const StatsWord& word) noexcept {
    return word.load(std::memory_order_acquire);
}

void check(bool right, const char* what) {
    if (!right) {
        throw Error(ErrorCode::io_error, fmt::format("the statistics of this process cannot be read: {}; use the `waybill` of the "
                                                     "version that it uses",
                                                     what));
    }
}

CufileStats cufile_of(const StatsCufileOf<std::uint64_t>& words) {
    return {{words.n, words.nvfs, words.p2pdma, words.posix, words.unaligned, words.errors, words.bytes},
            words.our_nvfs_bytes,
            words.our_p2pdma_bytes,
            words.our_posix_bytes,
            words.our_other_bytes};
}

GpuStats gpu_of(int device, const StatsGpu& gpu, unsigned& patience) {
    StatsGpuOf<std::uint64_t> copy{};
    (void)copy_block(gpu, copy, patience);
    return {device, text_of(copy.name), uuid_text(copy.uuid), copy.looked_ns != 0, {cufile_of(copy.cufile[0]), cufile_of(copy.cufile[1])}};
}

Latencies latencies_of(const StatsRowOf<std::uint64_t>& row) {
    Latencies latencies;
    latencies.sum_ns = row.latency_sum_ns;
    latencies.max_ns = row.latency_max_ns;
    latencies.buckets.assign(std::begin(row.histogram), std::end(row.histogram));
    for (const std::uint64_t count : latencies.buckets) {
        latencies.count += count;
    }
    const auto quantile = [&](double part) { return histogram_quantile_ns(latencies.buckets, part, latencies.max_ns); };
    latencies.p50_ns = quantile(0.5);
    latencies.p90_ns = quantile(0.9);
    latencies.p99_ns = quantile(0.99);
    latencies.p999_ns = quantile(0.999);
    return latencies;
}

PathStats path_of(std::size_t place, const StatsRow& row, unsigned& patience) {
    StatsRowOf<std::uint64_t> copy{};
    PathStats stats;
    stats.settled = copy_block(row, copy, patience);
    stats.direction = static_cast<Direction>(place % kStatsDirections);
    stats.path = static_cast<Path>(place / kStatsDirections % kStatsPaths);
    stats.device = static_cast<int>(place / kStatsDirections / kStatsPaths) - 1;
    stats.latencies = latencies_of(copy);
    stats.errors = copy.errors;
    stats.requests = stats.latencies.count + copy.errors;
    stats.proved = copy.proved;
    stats.contradicted = copy.contradicted;
    stats.tasks = stats.requests + copy.further_tasks;
    stats.asked_bytes = copy.moved_bytes + copy.missing_bytes;
    stats.moved_bytes = copy.moved_bytes;
    stats.source = {copy.cached_bytes, copy.device_bytes, copy.unknown_bytes, false};
    return stats;
}

// Per second; 0 when no time has passed or a value went back.
double rate(std::uint64_t now, std::uint64_t before, std::uint64_t from_ns, std::uint64_t to_ns) noexcept {
    return now <= before || to_ns <= from_ns ? 0.0 : static_cast<double>(now - before) * 1e9 / static_cast<double>(to_ns - from_ns);
}

}  // namespace

std::string printable(std::string text) {
    for (char& letter : text) {
        if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') {
            letter = '?';
        }
    }
    return text;
}

ProcessStats read_stats(std::span<const std::byte> bytes, std::uint64_t taken_ns) {
    check(bytes.size() >= sizeof(StatsWord) * 2, "its shared memory is too small");
    // Its first two words tell whether the rest is a segment at all.
    static_assert(offsetof(StatsSegment, magic) == 0 && offsetof(StatsSegment, version) == sizeof(StatsWord));
    const auto* const head = reinterpret_cast<const StatsWord*>(bytes.data());
    check(value(head[0]) == kStatsMagic, "its shared memory is not Waybill's");
    check(value(head[1]) == kStatsVersion, "its shared memory has another version");
    check(bytes.size() >= sizeof(StatsSegment), "its shared memory has another size than this version's");
    check(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(StatsSegment) == 0, "its shared memory begins at an odd place");
    const auto& segment = *reinterpret_cast<const StatsSegment*>(bytes.data());
    check(value(segment.size_bytes) == sizeof(StatsSegment), "its shared memory has another size than this version's");
    ProcessStats stats;
    stats.own_pid = value(segment.pid);
    stats.library = text_of(std::array{value(segment.library[0]), value(segment.library[1])});
    stats.start_unix_ns = value(segment.start_unix_ns);
    stats.start_ns = value(segment.start_ns);
    stats.taken_ns = taken_ns;
    stats.uncounted = value(segment.uncounted);
    stats.refused = {value(segment.refused[0]), value(segment.refused[1])};
    unsigned patience = kStatsPatience;
    for (std::size_t device = 0; device < kStatsGpus; ++device) {
        if (value(segment.gpus[device].known) != 0) {
            stats.gpus.push_back(gpu_of(static_cast<int>(device), segment.gpus[device], patience));
        }
    }
    for (std::size_t place = 0; place < kStatsRows; ++place) {
        if ((value(segment.used[place / 64]) >> place % 64 & 1) != 0) {
            stats.paths.push_back(path_of(place, segment.rows[place], patience));
            PathStats& path = stats.paths.back();
            path.life_bytes_per_s = rate(path.moved_bytes, 0, stats.start_ns, taken_ns);
        }
    }
    return stats;
}

void add_rates(ProcessStats& now, const ProcessStats& before) {
    // A start moves back when a request ends that began before the others; only another program under the same number has a later.
    if (now.start_ns > before.start_ns || now.own_pid != before.own_pid) {
        return;
    }
    for (PathStats& path : now.paths) {
        const auto earlier = std::find_if(before.paths.begin(), before.paths.end(), [&](const PathStats& other) {
            return other.device == path.device && other.path == path.path && other.direction == path.direction;
        });
        const bool known = earlier != before.paths.end();
        path.now_bytes_per_s = rate(path.moved_bytes, known ? earlier->moved_bytes : 0, before.taken_ns, now.taken_ns);
        path.now_requests_per_s = rate(path.requests, known ? earlier->requests : 0, before.taken_ns, now.taken_ns);
    }
}

}  // namespace waybill
