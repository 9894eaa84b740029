// Receipt: the waybill of one request: what really happened, with the evidence and a judgement of it.
//
// A plain value, cheap to copy: what many receipts share (settings, route) is held by pointer. Sizes in bytes, times in
// nanoseconds. Never changes once handed out, so threads may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/error.hpp"
#include "waybill/plan.hpp"
#include "waybill/route.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// How far the evidence goes.
enum class Judgement {
    proved,        // independent counters counted this path alone, and at least our bytes
    consistent,    // nothing disagrees, but nothing independent counted
    contradicted,  // a counter known to be live counted another path
};

// What kind of memory the other end was.
enum class MemoryKind { host, pinned, device, managed };

// The other end: where bytes went to (a read) or came from (a write).
struct Destination {
    MemoryKind memory = MemoryKind::host;
    int device = -1;          // CUDA's ordinal; -1 for host memory
    std::string name;         // the GPU's name, or "host"
    bool registered = false;  // with cuFile, ahead of the request
};

// What went by one of the paths.
struct PathShare {
    Path path = Path::unknown;
    std::optional<std::uint64_t> bytes;  // absent where only a count is known
    std::uint64_t count = 0;             // reads or writes that were counted on this path
};

// Where the bytes were (reads), from how each slot was read.
struct Source {
    std::uint64_t page_cache_bytes = 0;
    std::uint64_t device_bytes = 0;
    std::uint64_t unknown_bytes = 0;
    bool estimated = false;
};

// Where the time went, in nanoseconds.
struct Times {
    std::uint64_t total_ns = 0;        // wall
    std::uint64_t open_ns = 0;         // wall; opening the file, for its first request, else 0
    std::uint64_t thread_read_ns = 0;  // sums over threads
    std::uint64_t thread_copy_ns = 0;
    std::uint64_t thread_wait_ns = 0;
    std::uint64_t cuda_init_ns = 0;    // set-up that no earlier receipt told; that of CUDA may come before total_ns begins
    std::uint64_t context_ns = 0;
    std::uint64_t pin_ns = 0;
    std::uint64_t cufile_open_ns = 0;
};

// Differences of counters over the window of the request, in the request's direction.
struct CufileCounters {
    std::uint64_t n = 0;
    std::uint64_t nvfs = 0;
    std::uint64_t p2pdma = 0;
    std::uint64_t posix = 0;
    std::uint64_t unaligned = 0;
    std::uint64_t errors = 0;
    std::uint64_t bytes = 0;
    bool operator==(const CufileCounters&) const = default;
};

// /proc/driver/nvidia-fs/stats: of the whole machine.
struct NvidiaFsCounters {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
    bool live = false;  // statistics are on and have counted before
    bool operator==(const NvidiaFsCounters&) const = default;
};

// /proc/self/io: of the whole process.
struct ProcessIoCounters {
    std::uint64_t call_bytes = 0;     // rchar or wchar: bytes through read and write calls
    std::uint64_t storage_bytes = 0;  // read_bytes or write_bytes: bytes that storage moved
    bool operator==(const ProcessIoCounters&) const = default;
};

// What the judgement rests on. An absent counter was not looked at, or cannot be had here.
struct Evidence {
    std::optional<CufileCounters> cufile;
    std::optional<NvidiaFsCounters> nvidia_fs;
    std::optional<ProcessIoCounters> process_io;
    std::optional<Residency> residency;       // before the request
    bool company = false;                     // other requests of this process ran in the window
    std::vector<std::string> not_looked_at;   // names of the counters that were left alone
};

// A stretch of a request.
struct ByteRange {
    std::uint64_t offset = 0;  // of the request
    std::uint64_t bytes = 0;
    bool operator==(const ByteRange&) const = default;
};

// One request of a read_many.
struct RequestResult {
    std::shared_ptr<const std::string> file;  // its path, shared by the requests of one file; never null
    std::uint64_t file_offset = 0;
    std::uint64_t asked_bytes = 0;
    std::uint64_t moved_bytes = 0;
    bool is_short = false;
};

// The waybill itself. `file`, `route` and `settings` are never null in one that a request gave.
struct Receipt {
    std::shared_ptr<const std::string> file;
    Direction op = Direction::read;
    std::uint64_t file_offset = 0;
    std::uint64_t asked_bytes = 0;
    std::uint64_t moved_bytes = 0;       // the contiguous good prefix
    bool is_short = false;               // fewer bytes than asked for
    std::string short_reason;            // `end-of-file`, `source-ended` (of a write), or the error's code
    std::vector<ByteRange> good;         // all good ranges, when they are not just [0, moved_bytes)

    Destination destination;
    EngineKind engine = EngineKind::host;
    Path path = Path::unknown;           // one path, or mixed
    std::vector<PathShare> paths;
    Source source;
    Shares tasks;
    std::optional<Shares> pieces;
    std::optional<std::uint64_t> pieces_total;
    std::uint64_t threads = 1;           // that moved bytes
    bool direct_descriptor = false;      // O_DIRECT moved bytes, or cuFile had that descriptor
    Times times;

    std::shared_ptr<const Route> route;        // reasons
    std::shared_ptr<const Settings> settings;
    Evidence evidence;
    Judgement judgement = Judgement::consistent;
    std::string judgement_text;                // one sentence
    std::vector<std::string> notes;            // what was done without: less pinned memory, cuFile's counters, ...
    std::vector<RequestResult> results;        // of read_many
    std::optional<std::string> sha256;         // when asked
};

// Bytes a second over the wall time, in units of 1e9; 0 when nothing moved.
[[nodiscard]] double gb_per_s(const Receipt& receipt) noexcept;

// For people: the first line answers (path, bytes, time, judgement), details follow.
[[nodiscard]] std::string to_text(const Receipt& receipt);
// schema "waybill.receipt/1"; `indent` spaces, negative for one line.
[[nodiscard]] std::string to_json(const Receipt& receipt, int indent = -1);
// schema "waybill.error/1" {schema, code, text, native, receipt}.
[[nodiscard]] std::string to_json(const Error& error, int indent = -1);

// The words of the enumerators: proved, ...; host, pinned, ...
[[nodiscard]] std::string_view to_text(Judgement judgement) noexcept;
[[nodiscard]] std::string_view to_text(MemoryKind kind) noexcept;

}  // namespace waybill
