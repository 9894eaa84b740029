// Names that libcufile looks up and that nobody needs to work, and the look-up itself.
#include <dlfcn.h>

#include "fake.hpp"

using namespace fake;

FAKE_EXPORT Status cuIpcGetEventHandle() { return kNotSupported; }
FAKE_EXPORT Status cuIpcOpenEventHandle() { return kNotSupported; }
FAKE_EXPORT Status cuIpcOpenMemHandle_v2() { return kNotSupported; }
FAKE_EXPORT Status cuIpcCloseMemHandle() { return kNotSupported; }
FAKE_EXPORT Status cuIpcGetMemHandle() { return kNotSupported; }
FAKE_EXPORT Status cuDeviceCanAccessPeer(int* can, int, int) {
    *can = 0;
    return kSuccess;
}
FAKE_EXPORT Status cuMemcpyPeer() { return kNotSupported; }
FAKE_EXPORT Status cuMemcpyPeerAsync() { return kNotSupported; }
FAKE_EXPORT Status cuCtxEnablePeerAccess() { return kNotSupported; }
FAKE_EXPORT Status cuGetExportTable() { return kNotSupported; }

FAKE_EXPORT Status cuGetProcAddress_v2(const char* name, void** function, int /*version*/, unsigned long long /*flags*/, int* status) {
    static void* const self = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *function = nullptr;
    for (const char* suffix : {"_v2", ""}) {
        if (*function == nullptr && self != nullptr) {
            *function = ::dlsym(self, (std::string(name) + suffix).c_str());
        }
    }
    if (status != nullptr) {
        *status = *function != nullptr ? 0 : 1;
    }
    return *function != nullptr ? kSuccess : kNotFound;
}
FAKE_EXPORT Status cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
