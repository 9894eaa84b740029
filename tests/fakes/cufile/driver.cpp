#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "fake.hpp"

using namespace fake;

namespace {
std::atomic<long> opened{0};
}  // namespace

FAKE_EXPORT Status cuFileDriverOpen() {
    if (is_set("FAKE_CUFILE_OPEN_ABORT")) {
        std::abort();
    }
    while (is_set("FAKE_CUFILE_OPEN_HANG")) {
        ::usleep(1000);
    }
    if (is_set("FAKE_CUFILE_OPEN_CLOSES_FD0")) {
        ::close(0);
    }
    if (const int code = fault_of("FAKE_CUFILE_OPEN_ERROR")) {
        return {code, 0};
    }
    ++opened;
    return success();
}
FAKE_EXPORT Status cuFileDriverClose() {
    --opened;
    return success();
}
FAKE_EXPORT Status cuFileDriverClose_v2() { return cuFileDriverClose(); }
FAKE_EXPORT long cuFileUseCount() { return opened; }

FAKE_EXPORT Status cuFileGetVersion(int* version) {
    *version = static_cast<int>(number_of("FAKE_CUFILE_VERSION", 1150));
    return success();
}

// CUfileDrvProps_t, 56 bytes.
struct Properties {
    unsigned major, minor;
    std::size_t poll_size, direct_size;
    unsigned status, control;
    unsigned features, cache, per_buffer, pinned, batch, batch_ms;
};
FAKE_EXPORT Status cuFileDriverGetProperties(Properties* properties) {
    *properties = {};
    if (way() == Way::nvfs) {
        properties->major = 2;
        properties->minor = 27;
    }
    properties->direct_size = 16384;
    properties->cache = 131072;
    properties->per_buffer = 1024;
    properties->batch = 128;
    properties->control = 2;
    return success();
}
FAKE_EXPORT Status cuFileDriverSetPollMode(bool, std::size_t) { return success(); }
FAKE_EXPORT Status cuFileDriverSetMaxDirectIOSize(std::size_t) { return success(); }
FAKE_EXPORT Status cuFileDriverSetMaxCacheSize(std::size_t) { return success(); }
FAKE_EXPORT Status cuFileDriverSetMaxPinnedMemSize(std::size_t) { return success(); }
FAKE_EXPORT Status cuFileGetBARSizeInKB(int, std::size_t* size) {
    *size = 1 << 20;
    return success();
}
