// waybill-probe LIBRARY: opens cuFile's driver and ends. Exit status 0: it opened; 1: it refused; 2: no such library.
//
// Started by gpu/driver_probe.cpp in place of the caller where an open may hang, abort or close descriptors.
#include <dlfcn.h>
#include <unistd.h>

namespace {

struct Status {
    int code;
    int cuda;
};

}  // namespace

int main(int count, char** arguments) {
    // Ends with its parent's patience even if the parent is gone.
    constexpr unsigned kMostSeconds = 300;
    ::alarm(kMostSeconds);
    if (count != 2) {
        return 2;
    }
    void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return 2;
    }
    const auto open = reinterpret_cast<Status (*)()>(::dlsym(library, "cuFileDriverOpen"));
    if (open == nullptr) {
        return 2;
    }
    // _exit: the library's own end has been seen to hang.
    ::_exit(open().code == 0 ? 0 : 1);
}
