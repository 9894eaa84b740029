// waybill-probe LIBRARY [FILE direct|buffered]: opens cuFile's driver, registers the file where one is given, and ends. Its last line
// of output says what came of it; exit status 0: it went well; 1: cuFile refused; 2: no such library or file.
//
// Started by gpu/driver_probe.cpp in place of the caller where an open may hang, abort or close descriptors.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

struct Status {
    int code;
    int cuda;
};

// As cuFileHandleRegister takes it; kind 1 is a descriptor.
struct Description {
    int kind;
    union {
        int descriptor;
        void* handle;
    };
    const void* operations;
};

// _exit: the library's own end has been seen to hang.
[[noreturn]] void end(int status, const char* text, int code = 0) {
    char line[256];
    const int length = code == 0 ? std::snprintf(line, sizeof line, "waybill-probe: %s\n", text)
                                 : std::snprintf(line, sizeof line, "waybill-probe: %s (%d)\n", text, code);
    (void)!::write(STDOUT_FILENO, line, static_cast<std::size_t>(length));
    ::_exit(status);
}

template <class Function>
Function find(void* library, const char* name) {
    const auto function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) {
        end(2, "found a library without an entry point of cuFile");
    }
    return function;
}

}  // namespace

int main(int count, char** arguments) {
    // Ends with its parent's patience even if the parent is gone.
    constexpr unsigned kMostSeconds = 300;
    ::alarm(kMostSeconds);
    if (count != 2 && count != 4) {
        end(2, "was called wrongly");
    }
    void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        end(2, "found no library to load");
    }
    const auto open_driver = find<Status (*)()>(library, "cuFileDriverOpen");
    const auto register_handle = find<Status (*)(void**, Description*)>(library, "cuFileHandleRegister");
    if (const Status status = open_driver(); status.code != 0) {
        end(1, "failed: cuFileDriverOpen", status.code);
    }
    if (count == 2) {
        end(0, "opened the driver");
    }
    Description description{};
    description.kind = 1;
    description.descriptor = ::open(arguments[2], O_RDONLY | O_CLOEXEC | (std::strcmp(arguments[3], "direct") == 0 ? O_DIRECT : 0));
    if (description.descriptor < 0) {
        end(2, "could not open the file");
    }
    void* handle = nullptr;
    if (const Status status = register_handle(&handle, &description); status.code != 0) {
        end(1, "failed: cuFileHandleRegister", status.code);
    }
    end(0, "registered the file");
}
