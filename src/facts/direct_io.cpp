#include "facts/direct_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/fd.hpp"

namespace waybill {
namespace {

constexpr unsigned kDirectAlign = 0x2000;  // STATX_DIOALIGN
// stx_dio_mem_align and stx_dio_offset_align, whose names older headers lack (include/uapi/linux/stat.h).
constexpr std::size_t kMemoryAlignAt = 0x98;
constexpr std::size_t kOffsetAlignAt = 0x9c;

std::uint32_t number_at(const struct statx& state, std::size_t at) noexcept {
    std::uint32_t number = 0;
    std::memcpy(&number, reinterpret_cast<const char*>(&state) + at, sizeof number);
    return number;
}

}  // namespace

void ask_direct_io(int fd, FileFacts& facts) {
    struct statx state {};
    if (::statx(fd, "", AT_EMPTY_PATH, kDirectAlign, &state) == 0 && (state.stx_mask & kDirectAlign) != 0) {
        const std::uint32_t memory = number_at(state, kMemoryAlignAt);
        const std::uint32_t offset = number_at(state, kOffsetAlignAt);
        facts.direct_memory_align = memory != 0 ? known_fact(memory, "statx") : absent_fact<std::uint32_t>("statx");
        facts.direct_offset_align = offset != 0 ? known_fact(offset, "statx") : absent_fact<std::uint32_t>("statx");
    } else {
        facts.direct_memory_align = unknown_fact<std::uint32_t>("statx", "no STATX_DIOALIGN (Linux 6.1 has it)");
        facts.direct_offset_align = facts.direct_memory_align;
    }
    // O_NONBLOCK: a FIFO would be waited for.
    const Fd direct = reopen(fd, O_RDONLY | O_DIRECT | O_NONBLOCK);
    facts.direct_open = direct ? known_fact(true, "open with O_DIRECT")
                               : (errno == EINVAL ? absent_fact<bool>("open with O_DIRECT: EINVAL")
                                                  : unknown_fact<bool>("open with O_DIRECT", errno_name(errno)));
}

}  // namespace waybill
