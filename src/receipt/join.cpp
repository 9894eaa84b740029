#include "receipt/join.hpp"

#include <algorithm>

#include "receipt/judge.hpp"

namespace waybill {
namespace {

// Counters that were not looked at for one of the requests are not known for all of them.
template <class Counters, class Add>
void add_counters(std::optional<Counters>& whole, const std::optional<Counters>& next, Add add) {
    if (whole && next) {
        add(*whole, *next);
    } else {
        whole.reset();
    }
}

template <class List>
void add_new(List& whole, const List& next) {
    for (const auto& each : next) {
        if (std::find(whole.begin(), whole.end(), each) == whole.end()) {
            whole.push_back(each);
        }
    }
}

void add_evidence(Evidence& whole, const Evidence& next) {
    add_counters(whole.cufile, next.cufile, [](CufileCounters& a, const CufileCounters& b) {
        a.n += b.n;
        a.nvfs += b.nvfs;
        a.p2pdma += b.p2pdma;
        a.posix += b.posix;
        a.unaligned += b.unaligned;
        a.errors += b.errors;
        a.bytes += b.bytes;
    });
    add_counters(whole.nvidia_fs, next.nvidia_fs, [](NvidiaFsCounters& a, const NvidiaFsCounters& b) {
        a.operations += b.operations;
        a.bytes += b.bytes;
        a.live = a.live || b.live;
    });
    add_counters(whole.process_io, next.process_io, [](ProcessIoCounters& a, const ProcessIoCounters& b) {
        a.call_bytes += b.call_bytes;
        a.storage_bytes += b.storage_bytes;
    });
    whole.residency.reset();  // of the file before one of the requests
    whole.company = whole.company || next.company;
    add_new(whole.not_looked_at, next.not_looked_at);
}

EngineKind engine_of(Path path) noexcept {
    switch (path) {
        case Path::host: return EngineKind::host;
        case Path::staged: return EngineKind::staged;
        default: return EngineKind::cufile;
    }
}

bool all_by(const std::vector<PathShare>& paths, EngineKind engine) {
    return std::all_of(paths.begin(), paths.end(), [engine](const PathShare& share) { return engine_of(share.path) == engine; });
}

void add_shares(std::vector<PathShare>& whole, const std::vector<PathShare>& next) {
    for (const PathShare& share : next) {
        const auto same = std::find_if(whole.begin(), whole.end(), [&](const PathShare& known) { return known.path == share.path; });
        if (same == whole.end()) {
            whole.push_back(share);
            continue;
        }
        same->count += share.count;
        same->bytes = same->bytes && share.bytes ? std::optional(*same->bytes + *share.bytes) : std::nullopt;
    }
}

// After the totals and the counters.
void judge_all(Receipt& whole, const Receipt& next) {
    const bool one_engine = whole.engine == next.engine && all_by(whole.paths, whole.engine) && all_by(next.paths, next.engine);
    add_shares(whole.paths, next.paths);
    if (one_engine) {
        std::uint64_t calls = 0;
        for (const PathShare& share : whole.paths) {
            calls += share.count;
        }
        PathJudgement judged = judge(whole.engine, whole.route->expected_path, whole.moved_bytes, calls, whole.evidence);
        whole.path = judged.path;
        whole.paths = std::move(judged.paths);
        whole.judgement = judged.judgement;
        whole.judgement_text = std::move(judged.text);
        return;
    }
    // One of them fell back to another engine: no counter has counted all of the bytes, and the weakest evidence stands for all.
    whole.path = Path::mixed;
    if (next.judgement > whole.judgement) {
        whole.judgement = next.judgement;
        whole.judgement_text = next.judgement_text;
    }
}

void add_times(Times& whole, const Times& next) {
    whole.total_ns += next.total_ns;
    whole.open_ns += next.open_ns;
    whole.thread_read_ns += next.thread_read_ns;
    whole.thread_copy_ns += next.thread_copy_ns;
    whole.thread_wait_ns += next.thread_wait_ns;
    whole.cuda_init_ns += next.cuda_init_ns;
    whole.context_ns += next.context_ns;
    whole.pin_ns += next.pin_ns;
    whole.cufile_open_ns += next.cufile_open_ns;
}

// `before`: bytes of `whole`, all of them good.
void add_good(Receipt& whole, const Receipt& next, std::uint64_t before) {
    if (next.good.empty()) {
        return;  // all that moved is one prefix
    }
    whole.good = {{0, before}};
    for (const ByteRange& range : next.good) {
        if (range.offset == 0) {
            whole.good.front().bytes += range.bytes;
        } else {
            whole.good.push_back({before + range.offset, range.bytes});
        }
    }
}

}  // namespace

void join(Receipt& whole, const Receipt& next) {
    add_good(whole, next, whole.moved_bytes);
    whole.asked_bytes += next.asked_bytes;
    whole.moved_bytes += next.moved_bytes;
    whole.is_short = next.is_short;
    whole.short_reason = next.short_reason;
    whole.source.page_cache_bytes += next.source.page_cache_bytes;
    whole.source.device_bytes += next.source.device_bytes;
    whole.source.unknown_bytes += next.source.unknown_bytes;
    whole.source.estimated = whole.source.estimated || next.source.estimated;
    whole.tasks = {whole.tasks.count + next.tasks.count, std::max(whole.tasks.size_bytes, next.tasks.size_bytes), next.tasks.last_bytes};
    whole.pieces.reset();
    whole.pieces_total.reset();
    whole.threads = std::max(whole.threads, next.threads);
    whole.direct_descriptor = whole.direct_descriptor || next.direct_descriptor;
    add_times(whole.times, next.times);
    add_evidence(whole.evidence, next.evidence);
    judge_all(whole, next);
    add_new(whole.notes, next.notes);
}

void end_by_error(Receipt& whole, const Error& error, std::uint64_t asked_bytes) {
    whole.asked_bytes = std::max(whole.asked_bytes, asked_bytes);
    whole.is_short = whole.moved_bytes < whole.asked_bytes;
    whole.short_reason = whole.is_short ? to_text(error.code()) : "";
    if (whole.good.empty() && whole.moved_bytes != 0) {
        whole.good.push_back({0, whole.moved_bytes});
    }
}

}  // namespace waybill
