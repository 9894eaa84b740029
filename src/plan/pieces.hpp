// Pieces: how cuFile (layer 2) splits one task, by the `execution` keys of cufile.json. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "waybill/facts.hpp"
#include "waybill/plan.hpp"

namespace waybill {

// The keys that matter for a split.
struct Execution {
    std::uint64_t threads = 0;          // max_io_threads
    std::uint64_t parallelism = 0;      // max_request_parallelism
    std::uint64_t threshold_bytes = 0;  // min_io_threshold_size_kb
    bool parallel_io = false;
    std::uint64_t direct_io_bytes = 0;  // max_direct_io_size_kb: the most that one read of the file brings
    bool operator==(const Execution&) const = default;
};

// The version of cuFile whose splitting was measured (tests/plan/grids) that is nearest, as 1000*major + 10*minor; the newest one
// for an unknown version.
[[nodiscard]] int nearest_measured_version(std::optional<int> version);

// What that version does without any cufile.json (the built-in values of settings/cufile_keys.hpp).
[[nodiscard]] Execution built_in_execution(int version);

// What holds for a configuration: its keys, or the version's built-in values where there is no cufile.json.
[[nodiscard]] Execution execution_of(const CufileConfig& config, int version);

// Both in one: of the version that is loaded or that the facts tell.
[[nodiscard]] std::optional<int> cufile_version(const CufileFacts& cufile, const CufileUse& use);
[[nodiscard]] Execution execution_in_force(const CufileFacts& cufile, const CufileUse& use);

// The split of one read. All versions measured share the rule. With parallel I/O and threads but a parallelism of 0 the library
// divides by zero (seen over the stand-in libcuda, in all versions): one piece is answered.
[[nodiscard]] Shares split_task(std::uint64_t size_bytes, const Execution& execution, bool registered);

// How many reads of the file the pieces become in compatibility mode. For a destination that is not registered each fills a
// buffer of the library's pool (posix_pool_slab_size_kb, taken to be as built in); for a registered one it is direct_io_bytes.
[[nodiscard]] std::uint64_t count_device_reads(const Shares& pieces, const Execution& execution, bool registered);

}  // namespace waybill
