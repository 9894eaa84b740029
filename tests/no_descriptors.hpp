// A process that has as many files open as it may.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include "base/fd.hpp"

namespace waybill {

// While one lives, every open fails with EMFILE.
class NoDescriptors {
public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(open_descriptor("/dev/null", O_RDONLY).get());  // the lowest that is free
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
};

}  // namespace waybill
