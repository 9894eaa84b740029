#include "io/receipt_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "base/fd.hpp"

namespace waybill {
namespace {

void write_line(const std::string& place, const std::string& line) {
    if (place == "stderr") {
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
        return;
    }
    // O_APPEND and one write: lines of several processes don't mix. O_NONBLOCK: a pipe that nobody reads holds up no transfer.
    const Fd file = open_descriptor(place.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644);
    if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        static std::atomic<bool> told{false};
        if (!told.exchange(true)) {
            std::fprintf(stderr, "waybill: cannot write receipts to %s\n", place.c_str());
        }
    }
}

}  // namespace

void log_receipt(const Settings& settings, const Receipt& receipt) noexcept {
    if (settings.receipts.value.empty()) {
        return;
    }
    try {
        write_line(settings.receipts.value, to_json(receipt) + "\n");
    } catch (...) {  // a log must not fail what it tells of
    }
}

}  // namespace waybill
