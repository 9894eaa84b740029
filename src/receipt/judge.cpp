#include "receipt/judge.hpp"

#include <fmt/format.h>

namespace waybill {
namespace {

// Bytes went through read or write calls of this process: what a staged and a host transfer do, and nothing else counts.
PathJudgement judge_calls(Path path, std::uint64_t moved_bytes, std::uint64_t calls, const Evidence& evidence) {
    PathJudgement judged{path, {{path, moved_bytes, calls}}, Judgement::consistent, {}};
    const std::uint64_t by_cufile = evidence.cufile ? evidence.cufile->bytes : 0;
    if (moved_bytes == 0) {
        judged.text = "no bytes moved";
    } else if (!evidence.process_io) {
        judged.text = "Waybill moved the bytes by its own calls; no counter was looked at";
    } else if (evidence.process_io->call_bytes >= moved_bytes) {
        judged.judgement = Judgement::proved;
        judged.text = fmt::format("the kernel counted {} bytes through this process's calls, at least the {} moved",
                                   evidence.process_io->call_bytes, moved_bytes);
    } else if (by_cufile >= moved_bytes) {
        judged.judgement = Judgement::contradicted;
        judged.text = fmt::format("cuFile counted {} bytes, and the kernel only {} through this process's calls", by_cufile,
                                   evidence.process_io->call_bytes);
    } else {
        judged.text = fmt::format("the kernel counted only {} bytes through this process's calls",
                                   evidence.process_io->call_bytes);
    }
    return judged;
}

std::vector<PathShare> shares_of(const CufileCounters& counts) {
    std::vector<PathShare> shares;
    const auto add = [&](Path path, std::uint64_t count) {
        if (count != 0) {
            shares.push_back({path, std::nullopt, count});
        }
    };
    add(Path::nvidia_fs, counts.nvfs);
    add(Path::p2pdma, counts.p2pdma);
    add(Path::cufile_posix, counts.posix);
    return shares;
}

PathJudgement judge_one_cufile_path(std::vector<PathShare> shares, Path expected, std::uint64_t moved_bytes,
                              const Evidence& evidence) {
    const CufileCounters& counts = *evidence.cufile;
    PathJudgement judged{shares.front().path, std::move(shares), Judgement::consistent, {}};
    if (!evidence.company) {
        judged.paths.front().bytes = moved_bytes;
    }
    const std::string line = fmt::format("cuFile counted n={} nvfs={} p2pdma={} posix={}", counts.n, counts.nvfs,
                                         counts.p2pdma, counts.posix);
    // nvidia-fs counts whole MiB of the whole machine: only far more than nothing says that our bytes went that way.
    const bool nvidia_fs_counted = evidence.nvidia_fs && evidence.nvidia_fs->live && moved_bytes != 0 &&
                                   evidence.nvidia_fs->operations >= counts.n && evidence.nvidia_fs->bytes >= moved_bytes;
    if (counts.bytes < moved_bytes) {
        judged.text = line + fmt::format(", but only {} of {} bytes", counts.bytes, moved_bytes);
    } else if (judged.path == Path::cufile_posix && nvidia_fs_counted) {
        judged.judgement = Judgement::contradicted;
        judged.text = line + fmt::format(", and nvidia-fs counted {} operations", evidence.nvidia_fs->operations);
    } else {
        judged.judgement = Judgement::proved;
        judged.text = line + (evidence.company ? ", all one way, other requests included" : "");
    }
    if (judged.path != expected) {
        judged.text += fmt::format("; {} was expected", to_text(expected));
    }
    return judged;
}

PathJudgement judge_cufile(Path expected, std::uint64_t moved_bytes, std::uint64_t calls, const Evidence& evidence) {
    if (moved_bytes == 0) {
        return {expected, {{expected, 0, calls}}, Judgement::consistent, "no bytes moved"};
    }
    std::vector<PathShare> shares = evidence.cufile ? shares_of(*evidence.cufile) : std::vector<PathShare>{};
    if (shares.empty()) {
        return {expected,
                {{expected, moved_bytes, calls}},
                Judgement::consistent,
                evidence.cufile ? "cuFile's counters stayed silent; the path is the one expected"
                                : "cuFile's counters could not be read; the path is the one expected"};
    }
    if (shares.size() == 1) {
        return judge_one_cufile_path(std::move(shares), expected, moved_bytes, evidence);
    }
    const CufileCounters& counts = *evidence.cufile;
    return {Path::mixed, std::move(shares), Judgement::consistent,
            fmt::format("cuFile counted more than one path (n={} nvfs={} p2pdma={} posix={}){}", counts.n, counts.nvfs,
                        counts.p2pdma, counts.posix, evidence.company ? ", other requests included" : "")};
}

}  // namespace

PathJudgement judge(EngineKind engine, Path expected, std::uint64_t moved_bytes, std::uint64_t calls, const Evidence& evidence) {
    switch (engine) {
        case EngineKind::host: return judge_calls(Path::host, moved_bytes, calls, evidence);
        case EngineKind::staged: return judge_calls(Path::staged, moved_bytes, calls, evidence);
        case EngineKind::cufile: break;
    }
    return judge_cufile(expected, moved_bytes, calls, evidence);
}

}  // namespace waybill
