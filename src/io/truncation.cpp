#include "io/truncation.hpp"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

namespace waybill {
namespace {

// A smaller read is mostly one call, whose answer is the kernel's own; the look would be a notable part of its time.
constexpr std::uint64_t kLookFromBytes = 64 * 1024;

}  // namespace

std::optional<Error> note_truncations(Consignment& consignment) {
    std::optional<Error> error;
    if (consignment.direction == Direction::write) {
        return error;
    }
    const Descriptors* looked_at = nullptr;  // parts of one file mostly follow one another: one look serves them all
    std::uint64_t size = 0;
    for (Part& part : consignment.parts) {
        if (part.size_bytes < kLookFromBytes) {
            continue;
        }
        if (looked_at != part.descriptors.get()) {
            struct stat state {};
            if (::fstat(part.descriptors->buffered(), &state) != 0) {
                continue;
            }
            looked_at = part.descriptors.get();
            size = static_cast<std::uint64_t>(state.st_size);
        }
        const std::uint64_t offset = part.work.file_offset;
        if (size < offset + part.size_bytes) {
            part.lost_bytes = offset + part.size_bytes - std::max(size, offset);
            if (!error) {
                error.emplace(ErrorCode::file_truncated,
                              fmt::format("reading '{}': the file was truncated meanwhile, to {} bytes", *part.name, size));
            }
        }
    }
    return error;
}

}  // namespace waybill
