#include "evidence/window.hpp"

#include <atomic>

#include "base/clock.hpp"
#include "base/forks.hpp"

namespace waybill {
namespace {

// Requests of this process that are under way, and how many ever began.
struct Requests {
    std::atomic<std::uint64_t> running{0};
    std::atomic<std::uint64_t> started{0};
};
ForkLocal<Requests> the_requests;

CufileCounters difference(const CufileCounters& after, const CufileCounters& before) noexcept {
    return {after.n - before.n,
            after.nvfs - before.nvfs,
            after.p2pdma - before.p2pdma,
            after.posix - before.posix,
            after.unaligned - before.unaligned,
            after.errors - before.errors,
            after.bytes - before.bytes};
}

NvidiaFsCounters difference(const NvidiaFsCounters& after, const NvidiaFsCounters& before) noexcept {
    return {after.operations - before.operations, after.bytes - before.bytes, before.live || after.live};
}

ProcessIoCounters difference(const ProcessIoCounters& after, const ProcessIoCounters& before) noexcept {
    return {after.call_bytes - before.call_bytes, after.storage_bytes - before.storage_bytes};
}

// The differences of both directions' counters, in the one that is asked for.
template <class Counts>
auto difference(const Counts& after, const Counts& before, Direction direction) noexcept {
    return direction == Direction::read ? difference(after.reads, before.reads) : difference(after.writes, before.writes);
}

std::optional<CufileCounts> cufile_now(const std::string& uuid) {
    const CufileDriver* driver = cufile_if_open();
    return driver != nullptr ? read_cufile_counters(*driver, uuid) : std::nullopt;
}

}  // namespace

EvidenceWindow::EvidenceWindow(CountersWanted wanted, std::string gpu_uuid, const MachineRoot& root)
    : wanted_(wanted), gpu_uuid_(std::move(gpu_uuid)), root_(root) {
    Requests& requests = the_requests.get();
    company_at_open_ = requests.running.fetch_add(1) != 0;
    starts_at_open_ = requests.started.fetch_add(1) + 1;
    if (wanted_.cufile) {
        cufile_before_ = cufile_now(gpu_uuid_);
    }
    if (wanted_.nvidia_fs) {
        nvidia_fs_before_ = read_nvidia_fs_stats(root_);
    }
    if (wanted_.process_io) {
        process_io_before_ = read_process_io();
    }
}

EvidenceWindow::~EvidenceWindow() {
    if (open_) {
        the_requests.get().running.fetch_sub(1);
    }
}

Evidence EvidenceWindow::close(Direction direction) {
    Evidence evidence;
    const auto add = [&](bool wanted, const char* name, const auto& before, const auto& after, auto& counters) {
        if (!wanted) {
            evidence.not_looked_at.emplace_back(name);
        } else if (before && after) {
            counters = difference(*after, *before, direction);
        }
    };
    using Cufile = std::optional<CufileCounts>;
    using NvidiaFs = std::optional<NvidiaFsCounts>;
    using ProcessIo = std::optional<ProcessIoCounts>;
    const Cufile cufile_after = wanted_.cufile ? cufile_now(gpu_uuid_) : Cufile{};
    if (cufile_after) {
        cufile_after_ = {*cufile_after, now_ns()};
    }
    add(wanted_.cufile, "cufile", cufile_before_, cufile_after, evidence.cufile);
    add(wanted_.nvidia_fs, "nvidia_fs", nvidia_fs_before_,
        wanted_.nvidia_fs ? read_nvidia_fs_stats(root_) : NvidiaFs{}, evidence.nvidia_fs);
    add(wanted_.process_io, "process_io", process_io_before_, wanted_.process_io ? read_process_io() : ProcessIo{},
        evidence.process_io);
    Requests& requests = the_requests.get();
    evidence.company = company_at_open_ || requests.started.load() != starts_at_open_;
    requests.running.fetch_sub(1);
    open_ = false;
    return evidence;
}

}  // namespace waybill
