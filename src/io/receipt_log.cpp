#include "io/receipt_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "base/fd.hpp"
#include "waybill/error.hpp"

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

void refuse_as_log(const Settings& settings, const std::string& name) {
    const std::string& log = settings.receipts.value;
    struct stat of_log {};
    struct stat of_file {};
    if (log.empty() || log == "stderr" || ::stat(log.c_str(), &of_log) != 0 || ::stat(name.c_str(), &of_file) != 0) {
        return;
    }
    if (S_ISREG(of_log.st_mode) && of_log.st_dev == of_file.st_dev && of_log.st_ino == of_file.st_ino) {
        throw Error(ErrorCode::invalid_argument,
                    "receipts (WAYBILL_RECEIPTS) names '" + log + "', the very file whose bytes are to move; name another");
    }
}

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
