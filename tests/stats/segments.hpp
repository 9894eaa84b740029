// Segments and receipts for the tests of the statistics.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "stats/layout.hpp"
#include "stats/reader.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

struct FreeSegment {
    void operator()(StatsSegment* segment) const noexcept { std::free(segment); }
};
using TestSegment = std::unique_ptr<StatsSegment, FreeSegment>;

// A segment as its process makes it, in memory of our own: zeros and a head.
inline TestSegment make_segment() {
    void* memory = std::aligned_alloc(64, (sizeof(StatsSegment) + 63) / 64 * 64);
    TestSegment segment(new (memory) StatsSegment());
    segment->version.store(kStatsVersion);
    segment->size_bytes.store(sizeof(StatsSegment));
    segment->pid.store(42);
    segment->start_ns.store(1'000'000'000);
    segment->magic.store(kStatsMagic);
    return segment;
}

inline ProcessStats look_at(const TestSegment& segment, std::uint64_t taken_ns = 2'000'000'000) {
    return read_stats({reinterpret_cast<const std::byte*>(segment.get()), sizeof(StatsSegment)}, taken_ns);
}

// A read of `bytes` by `path` that took `ns`; device -1 for the host.
inline Receipt make_receipt(int device, Path path, std::uint64_t bytes, std::uint64_t ns) {
    Receipt receipt;
    receipt.destination.device = device;
    receipt.destination.name = device < 0 ? "host" : "NVIDIA H200";
    receipt.engine = path == Path::host ? EngineKind::host : path == Path::staged ? EngineKind::staged : EngineKind::cufile;
    receipt.path = path;
    receipt.asked_bytes = bytes;
    receipt.moved_bytes = bytes;
    receipt.tasks = {1, bytes, bytes};
    receipt.source = {bytes / 4, bytes - bytes / 4, 0, false};
    receipt.times.total_ns = ns;
    receipt.judgement = Judgement::proved;
    return receipt;
}

}  // namespace waybill
