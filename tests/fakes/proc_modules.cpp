// Answers /proc/modules with an empty file, for NVIDIA's real libcufile on kernels that have none. Preloaded: it must stand
// before libc.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

const char* answered(const char* path) {
    return path != nullptr && strcmp(path, "/proc/modules") == 0 ? "/dev/null" : path;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);
using OpenAt = int (*)(int, const char*, int, ...);
using FileOpen = FILE* (*)(const char*, const char*);
using Access = int (*)(const char*, int);

unsigned mode_of(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, unsigned) : 0;
}

}  // namespace

FAKE_EXPORT int open(const char* path, int flags, ...) {
    static const auto real = next<Open>("open");
    va_list arguments;
    va_start(arguments, flags);
    const unsigned mode = mode_of(flags, arguments);
    va_end(arguments);
    return real(answered(path), flags, mode);
}
FAKE_EXPORT int open64(const char* path, int flags, ...) {
    static const auto real = next<Open>("open64");
    va_list arguments;
    va_start(arguments, flags);
    const unsigned mode = mode_of(flags, arguments);
    va_end(arguments);
    return real(answered(path), flags, mode);
}
FAKE_EXPORT int openat(int folder, const char* path, int flags, ...) {
    static const auto real = next<OpenAt>("openat");
    va_list arguments;
    va_start(arguments, flags);
    const unsigned mode = mode_of(flags, arguments);
    va_end(arguments);
    return real(folder, answered(path), flags, mode);
}
FAKE_EXPORT FILE* fopen(const char* path, const char* mode) {
    static const auto real = next<FileOpen>("fopen");
    return real(answered(path), mode);
}
FAKE_EXPORT FILE* fopen64(const char* path, const char* mode) {
    static const auto real = next<FileOpen>("fopen64");
    return real(answered(path), mode);
}
FAKE_EXPORT int access(const char* path, int mode) {
    static const auto real = next<Access>("access");
    return real(answered(path), mode);
}
