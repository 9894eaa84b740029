#include <cstdlib>
#include <cstring>

#include "fake.hpp"

namespace fake {
namespace {

constexpr std::size_t kGpus = 16;
constexpr std::size_t kCounters = 29;

struct Row {
    unsigned char uuid[16];
    std::uint64_t counters[kCounters];
};
static_assert(sizeof(Row) == 248);

struct Counts {
    std::mutex mutex;
    int level = 0;
    bool started = false;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    std::uint32_t gpus = 0;
    Row rows[kGpus] = {};
};
Counts& counts() {
    static Counts& all = *new Counts();
    return all;
}

// The stand-in GPUs' UUIDs, as the stand-in of libcuda gives them.
Row& row_of(Counts& all, int device) {
    unsigned char uuid[16];
    std::memset(uuid, 0x57, sizeof uuid);
    uuid[15] = static_cast<unsigned char>(device);
    for (std::uint32_t k = 0; k < all.gpus; ++k) {
        if (std::memcmp(all.rows[k].uuid, uuid, sizeof uuid) == 0) {
            return all.rows[k];
        }
    }
    Row& row = all.rows[all.gpus++];
    std::memcpy(row.uuid, uuid, sizeof uuid);
    return row;
}

int version() { return static_cast<int>(number_of("FAKE_CUFILE_VERSION", 1150)); }

}  // namespace

Way way() {
    const char* text = std::getenv("FAKE_CUFILE_PATH");
    const std::string path = text != nullptr ? text : "posix";
    return path == "nvfs" ? Way::nvfs : (path == "p2pdma" ? Way::p2pdma : Way::posix);
}

void count(bool read, int device, std::uint64_t bytes, bool unaligned, bool failed) {
    Counts& all = counts();
    const bool other_way = every_nth("FAKE_CUFILE_MIX");
    const std::lock_guard lock(all.mutex);
    if (!all.started || all.level < 3 || is_set("FAKE_CUFILE_STATS_SILENT")) {
        return;
    }
    (read ? all.reads : all.writes) += 1;
    (read ? all.read_bytes : all.write_bytes) += bytes;
    if (device < 0) {
        return;  // host memory is counted in the first level alone
    }
    const Way taken = other_way ? Way::posix : way();
    std::uint64_t* const counters = row_of(all, device).counters;
    const std::size_t first = read ? 4 : 17;  // n, p2p, nvfs, posix, unaligned
    counters[read ? 0 : 13] += bytes;
    counters[first] += 1;
    counters[first + (taken == Way::p2pdma ? 1 : (taken == Way::nvfs ? 2 : 3))] += 1;
    counters[first + 4] += unaligned ? 1 : 0;
    counters[read ? 12 : 23] += failed ? 1 : 0;
}

}  // namespace fake

using namespace fake;

namespace {
constexpr int kInvalid = 5022;
bool without() { return is_set("FAKE_CUFILE_NO_STATS"); }
}  // namespace

FAKE_EXPORT Status cuFileSetStatsLevel(int level) {
    if (without() || level < 0 || level > 3) {
        return {kInvalid, 0};
    }
    const std::lock_guard lock(counts().mutex);
    counts().level = level;
    return success();
}

FAKE_EXPORT Status cuFileGetStatsLevel(int* level) {
    const std::lock_guard lock(counts().mutex);
    *level = counts().level;
    return success();
}

FAKE_EXPORT Status cuFileStatsStart() {
    if (without()) {
        return {kInvalid, 0};
    }
    const std::lock_guard lock(counts().mutex);
    counts().started = true;
    return success();
}

FAKE_EXPORT Status cuFileStatsStop() {
    const std::lock_guard lock(counts().mutex);
    counts().started = false;
    return success();
}

FAKE_EXPORT Status cuFileStatsReset() {
    const std::lock_guard lock(counts().mutex);
    counts().gpus = 0;
    std::memset(counts().rows, 0, sizeof counts().rows);
    return success();
}

// The caller's structure has no size, so exactly this version's layout is written.
FAKE_EXPORT Status cuFileGetStatsL3(void* statistics) {
    if (without()) {
        return {kInvalid, 0};
    }
    Counts& all = counts();
    const std::lock_guard lock(all.mutex);
    const std::size_t level1 = version() >= 1190 ? 624 : 512;
    auto* const out = static_cast<unsigned char*>(statistics);
    std::memset(out, 0, level1 + 512 + 8 + sizeof all.rows);
    std::memcpy(out, &all.reads, 8);         // read_ops.ok
    std::memcpy(out + 16, &all.writes, 8);   // write_ops.ok
    std::memcpy(out + 96, &all.read_bytes, 8);
    std::memcpy(out + 104, &all.write_bytes, 8);
    std::memcpy(out + level1 + 512, &all.gpus, 4);
    std::memcpy(out + level1 + 512 + 8, all.rows, sizeof all.rows);
    return success();
}

FAKE_EXPORT Status cuFileGetStatsL1(void* statistics) {
    if (without()) {
        return {kInvalid, 0};
    }
    std::memset(statistics, 0, version() >= 1190 ? 624 : 512);
    return success();
}

FAKE_EXPORT Status cuFileGetStatsL2(void* statistics) {
    if (without()) {
        return {kInvalid, 0};
    }
    std::memset(statistics, 0, (version() >= 1190 ? 624 : 512) + 512);
    return success();
}
