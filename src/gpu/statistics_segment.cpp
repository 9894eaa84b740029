#include "gpu/statistics_segment.hpp"

#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace waybill {
namespace {

std::string in_the_way(key_t key, const std::string& why) {
    return fmt::format("a shared memory segment with this process's number as its key (0x{:08x}) is in the way: {}; see `ipcs -m`, "
                       "and remove a dead process's with `ipcrm -M 0x{:08x}`",
                       key, why, key);
}

}  // namespace

std::string clear_statistics_segment() {
    const key_t key = ::getpid();
    const int segment = ::shmget(key, 0, 0);
    if (segment < 0) {
        return errno == ENOENT ? "" : in_the_way(key, std::strerror(errno));
    }
    shmid_ds state{};
    if (::shmctl(segment, IPC_STAT, &state) != 0) {
        return in_the_way(key, std::strerror(errno));
    }
    if (state.shm_nattch != 0) {  // libcufile's own of this process, when the program used it before
        return state.shm_cpid == key ? "" : in_the_way(key, "another living process uses it");
    }
    return ::shmctl(segment, IPC_RMID, nullptr) == 0 ? "" : in_the_way(key, std::strerror(errno));
}

}  // namespace waybill
