#include "evidence/window.hpp"

#include <atomic>

#include "base/clock.hpp"
#include "base/forks.hpp"

namespace waybill {
namespace {

// Requests of this process that are under way, in the low bits, and how many ever began, above: in one word, so that of two that
// overlap one at least sees the other.
struct Requests {
    static constexpr unsigned kRunningBits = 24;
    static constexpr std::uint64_t kOneStarted = std::uint64_t{1} << kRunningBits;
    std::atomic<std::uint64_t> both{0};

    static std::uint64_t running(std::uint64_t both) noexcept { return both & (kOneStarted - 1); }
    static std::uint64_t started(std::uint64_t both) noexcept { return both >> kRunningBits; }
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
    const std::uint64_t before = the_requests.get().both.fetch_add(Requests::kOneStarted + 1);
    company_at_open_ = Requests::running(before) != 0;
    starts_at_open_ = Requests::started(before) + 1;
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
        the_requests.get().both.fetch_sub(1);
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
    evidence.company = company_at_open_ || Requests::started(the_requests.get().both.fetch_sub(1)) != starts_at_open_;
    open_ = false;
    return evidence;
}

}  // namespace waybill
