// Processes: who on this machine uses Waybill, and its segment, found through /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/reader.hpp"

namespace waybill {

// A process's segment, mapped for reading. It outlives the process, so the last state can be read after its end. Moveable.
class StatsView {
public:
    // Throws Error: file_not_found when there is no such process or it has no statistics, permission_denied when they are
    // another user's, io_error when what is there is not this version's.
    [[nodiscard]] static StatsView of_process(std::int64_t pid);
    StatsView(StatsView&& other) noexcept;
    StatsView& operator=(StatsView&& other) noexcept;
    ~StatsView();

    [[nodiscard]] ProcessStats look() const;
    [[nodiscard]] std::int64_t pid() const noexcept { return pid_; }
    // The process still lives and still has this segment: it has not ended, nor become another program by exec.
    [[nodiscard]] bool is_current() const noexcept;

private:
    StatsView() = default;
    std::int64_t pid_ = 0;
    int number_ = -1;  // of the descriptor, in that process
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;
    std::string command_;
    const std::byte* bytes_ = nullptr;
};

struct StatsProcesses {
    std::vector<StatsView> found;
    std::uint64_t refused = 0;                // processes that this user may not look into
    std::vector<std::string> problems;        // a sentence for each whose segment cannot be read
};
// All processes of this machine (of this namespace) that use Waybill, by number.
[[nodiscard]] StatsProcesses find_stats_processes();

}  // namespace waybill
