#include "evidence/nvidia_fs_stats.hpp"

#include <charconv>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

// The number after `key=` in a line; 0 when the key is not there.
std::uint64_t number_of(std::string_view line, std::string_view key) {
    for (std::string_view word : split(line, ' ')) {
        if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
            word.remove_prefix(key.size() + 1);
            std::uint64_t number = 0;
            std::from_chars(word.data(), word.data() + word.size(), number);
            return number;
        }
    }
    return 0;
}

NvidiaFsCounters parse_line(std::string_view line, std::string_view bytes_key) {
    NvidiaFsCounters counts;
    counts.operations = number_of(line, "n");
    counts.bytes = number_of(line, bytes_key) * kMiB;
    return counts;
}

}  // namespace

NvidiaFsCounts parse_nvidia_fs_stats(std::string_view text) {
    NvidiaFsCounts counts;
    bool enabled = false;
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with("IO stats:")) {
            enabled = trim(line.substr(9)).starts_with("Enabled");
        } else if (line.starts_with("Reads") && line.find(" n=") != std::string_view::npos) {
            counts.reads = parse_line(line, "readMiB");
        } else if (line.starts_with("Writes") && line.find(" n=") != std::string_view::npos) {
            counts.writes = parse_line(line, "writeMiB");
        }
    }
    counts.reads.live = enabled && counts.reads.operations != 0;
    counts.writes.live = enabled && counts.writes.operations != 0;
    return counts;
}

std::optional<NvidiaFsCounts> read_nvidia_fs_stats(const MachineRoot& root) {
    const Fact<std::string> text = root.read("/proc/driver/nvidia-fs/stats");
    if (!text.known()) {
        return std::nullopt;
    }
    return parse_nvidia_fs_stats(text.value);
}

}  // namespace waybill
