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

// libcufile 1.15 looks these up without their suffix.
FAKE_EXPORT Status cuStreamWriteValue32_v2(void* stream, Pointer address, std::uint32_t value, unsigned flags);
FAKE_EXPORT Status cuStreamWaitValue32_v2(void* stream, Pointer address, std::uint32_t value, unsigned flags);
FAKE_EXPORT Status cuStreamWriteValue32(void* stream, Pointer address, std::uint32_t value, unsigned flags) {
    return cuStreamWriteValue32_v2(stream, address, value, flags);
}
FAKE_EXPORT Status cuStreamWaitValue32(void* stream, Pointer address, std::uint32_t value, unsigned flags) {
    return cuStreamWaitValue32_v2(stream, address, value, flags);
}
FAKE_EXPORT Status cuDevicePrimaryCtxRelease_v2(int device);
FAKE_EXPORT Status cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }
FAKE_EXPORT Status cuIpcOpenMemHandle() { return kNotSupported; }
