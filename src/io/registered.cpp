#include "io/registered.hpp"

#include <iterator>
#include <map>
#include <mutex>

#include "base/forks.hpp"

namespace waybill {
namespace {

struct Registrations {
    std::mutex mutex;
    std::map<std::uintptr_t, std::uint64_t> sizes;  // by start
};
ForkLocal<Registrations> the_registrations;

}  // namespace

void remember_registration(void* pointer, std::uint64_t size_bytes) {
    Registrations& known = the_registrations.get();
    const std::lock_guard lock(known.mutex);
    known.sizes[reinterpret_cast<std::uintptr_t>(pointer)] = size_bytes;
}

void forget_registration(void* pointer) noexcept {
    Registrations& known = the_registrations.get();
    const std::lock_guard lock(known.mutex);
    known.sizes.erase(reinterpret_cast<std::uintptr_t>(pointer));
}

std::byte* registered_base(const void* pointer, std::uint64_t size_bytes) {
    Registrations& known = the_registrations.get();
    const std::lock_guard lock(known.mutex);
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto after = known.sizes.upper_bound(address);
    if (after == known.sizes.begin()) {
        return nullptr;
    }
    const auto& [start, size] = *std::prev(after);
    return address + size_bytes <= start + size ? reinterpret_cast<std::byte*>(start) : nullptr;
}

}  // namespace waybill
