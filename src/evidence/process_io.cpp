#include "evidence/process_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "base/fd.hpp"
#include "base/forks.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

// Kept open: the file of a forked child is another one.
struct OpenCounters {
    Fd file{::open("/proc/self/io", O_RDONLY | O_CLOEXEC)};
};
ForkLocal<OpenCounters> open_counters;

}  // namespace

ProcessIoCounts parse_process_io(std::string_view text) {
    ProcessIoCounts counts;
    for (const std::string_view line : split(text, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        const std::string_view name = line.substr(0, colon);
        const std::string_view value = trim(line.substr(colon + 1));
        std::uint64_t number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        if (name == "rchar") {
            counts.reads.call_bytes = number;
        } else if (name == "wchar") {
            counts.writes.call_bytes = number;
        } else if (name == "read_bytes") {
            counts.reads.storage_bytes = number;
        } else if (name == "write_bytes") {
            counts.writes.storage_bytes = number;
        }
    }
    return counts;
}

std::optional<ProcessIoCounts> read_process_io() {
    const Fd& file = open_counters.get().file;
    char text[1024];
    const ssize_t size_bytes = file ? ::pread(file.get(), text, sizeof text, 0) : -1;
    if (size_bytes <= 0) {
        return std::nullopt;
    }
    return parse_process_io({text, static_cast<std::size_t>(size_bytes)});
}

}  // namespace waybill
