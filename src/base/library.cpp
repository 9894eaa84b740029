#include "base/library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

#include <cerrno>

#include "base/fd.hpp"
#include "base/forks.hpp"

namespace waybill {

Library Library::load(const std::string& name) {
    const ForkHold hold;
    Library library;
    library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) {
        const char* problem = ::dlerror();
        library.problem_ = problem != nullptr ? problem : "unknown";
        if (!open_descriptor("/dev/null", O_RDONLY)) {  // dlopen gives no errno
            throw_if_out_of_descriptors(errno, name);
        }
    }
    return library;
}

Library Library::if_loaded(const std::string& name) {
    const ForkHold hold;
    Library library;
    library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    return library;
}

void* Library::symbol(const char* name) const noexcept {
    return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

std::string Library::path() const {
    link_map* map = nullptr;
    if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
        return {};
    }
    return map->l_name;
}

unsigned long long loaded_objects() noexcept {
    const ForkHold hold;  // the loader's lock that dl_iterate_phdr takes is not freed in a child
    unsigned long long added = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* result) {
            *static_cast<unsigned long long*>(result) = object->dlpi_adds;
            return 1;  // the first object knows
        },
        &added);
    return added;
}

}  // namespace waybill
