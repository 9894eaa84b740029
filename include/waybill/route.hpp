// Route: the decision for one request, made before any byte moves: engine, expected path, and the reasons in order.
//
// Pure: the same arguments give the same answer; no I/O, no globals. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// Which way the bytes go: from the file, or to it.
enum class Direction { read, write };
// What moves bytes: read and write calls into host memory, the same through pinned memory to a GPU, or NVIDIA's library.
enum class EngineKind { host, staged, cufile };

// The way bytes took, or are expected to take. `mixed` and `unknown` appear in receipts alone.
enum class Path { host, staged, cufile_posix, nvidia_fs, p2pdma, mixed, unknown };

// What a call insists on: a direct path (nvidia-fs or P2PDMA), or one path by name.
enum class Require { none, direct, host, staged, cufile_posix, nvidia_fs, p2pdma };

// Why a route is as it is: a stable word and a sentence.
struct Reason {
    std::string id;    // `below-threshold`; docs/findings.md lists all
    std::string text;  // one sentence
};

// The decision. A route with `refused` is an error of the request that asked for it.
struct Route {
    EngineKind engine = EngineKind::host;
    Path expected_path = Path::host;
    std::vector<Reason> reasons;              // never empty; the first one decided
    // How Waybill's own reads use the page cache; never automatic. By cuFile: how they will, should it drop the bytes.
    PageCacheUse page_cache = PageCacheUse::use;
    bool direct_write = false;                // so for its own writes: by O_DIRECT where their alignment allows
    std::vector<Reason> reasons_if_staged;    // by cuFile: what `reasons` will say of these two then
    bool cufile_direct_descriptor = false;    // cuFile gets the O_DIRECT descriptor
    bool suspicious_driver = false;           // cuFileDriverOpen is tried in a child process first
    std::optional<Reason> refused;            // this request cannot be served as asked; nothing may move
    std::optional<Reason> doubt;              // cuFile will be tried, but this condition says that it will refuse
};

// The coarsest alignment of O_DIRECT that Waybill's slots have room for, in bytes; a file that asks for more is read through the
// page cache. (Block devices ask for 512 to 4096, as statx(2) tells; the rest is room to spare.)
inline constexpr std::size_t kMostDirectAlign = 64 * 1024;

// What the decision depends on besides settings and facts.
struct RouteQuestion {
    Direction direction = Direction::read;
    std::uint64_t size_bytes = 0;
    bool to_gpu = false;
    bool managed_memory = false;              // always staged
    Require require = Require::none;
    Residency residency;
};

// Which facts choose_route would look at to answer this question: what it does not need need not be gathered, for that costs
// more than a small read.
struct FactsWanted {
    bool file = true;         // FileFacts
    bool free_memory = true;  // MachineFacts::free_memory_bytes, as it is now
};
// Those for this question.
[[nodiscard]] FactsWanted facts_wanted(const RouteQuestion& question, const Settings& settings);

// The decision, by the ordered list of conditions (src/route/conditions.cpp). Never throws: what cannot be served is `refused`.
// `gpu` is null for a host destination.
[[nodiscard]] Route choose_route(const RouteQuestion& question, const Settings& settings, const FileFacts& file,
                                 const MachineFacts& machine, const GpuFacts* gpu);

// The words of the enumerators, as users write and see them.
[[nodiscard]] std::string_view to_text(Direction direction) noexcept;   // read, write
[[nodiscard]] std::string_view to_text(EngineKind engine) noexcept;     // host, staged, cufile
[[nodiscard]] std::string_view to_text(Path path) noexcept;             // cufile-posix, nvidia-fs, ...
[[nodiscard]] std::string_view to_text(Require require) noexcept;
// The reverse of to_text(). Throws Error invalid_argument naming what is accepted.
[[nodiscard]] Require parse_require(std::string_view text);

}  // namespace waybill
