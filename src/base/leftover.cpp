#include "base/leftover.hpp"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>

namespace waybill {
namespace {

struct Known {
    std::mutex mutex;
    std::map<std::string, Leftover::Kind> paths;
};

// Never destroyed: a signal may come while the process ends.
Known& known() {
    static auto& all = *new Known();
    return all;
}

void remove(const std::string& path, Leftover::Kind kind) noexcept {
    if (kind == Leftover::Kind::file) {
        ::unlink(path.c_str());
        return;
    }
    // The program's own thread may still be putting files into it, and cannot any more once the folder itself is gone.
    constexpr int kTries = 100;
    constexpr int kDescriptors = 1;  // there may be no more, however deep the folders go
    for (int k = 0; k < kTries; ++k) {
        const auto remove_entry = [](const char* entry, const struct stat*, int, FTW*) { return ::remove(entry) == 0 ? 0 : -1; };
        if (::nftw(path.c_str(), remove_entry, kDescriptors, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0 || errno == ENOENT) {
            return;
        }
    }
}

}  // namespace

Leftover::Leftover(Kind kind, const std::function<std::string()>& make) : kind_(kind) {
    const std::lock_guard lock(known().mutex);
    path_ = make();
    if (!path_.empty()) {
        known().paths.emplace(path_, kind_);
    }
}

Leftover::~Leftover() {
    if (!path_.empty()) {
        remove(path_, kind_);
        keep();
    }
}

void Leftover::keep() noexcept {
    const std::lock_guard lock(known().mutex);
    known().paths.erase(path_);
    path_.clear();
}

void remove_leftovers_for_good() noexcept {
    known().mutex.lock();
    for (const auto& [path, kind] : known().paths) {
        remove(path, kind);
    }
}

}  // namespace waybill
