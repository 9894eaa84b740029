#include "io/truncation.hpp"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

namespace waybill {

// Of small reads too: the kernel looks at the size before it copies, so that one call alone can be overtaken and give zeros.
std::optional<Error> note_truncations(Consignment& consignment) {
    std::optional<Error> error;
    if (consignment.direction == Direction::write) {
        return error;
    }
    const PartFile* looked_at = nullptr;  // parts of one file mostly follow one another: one look serves them all
    std::uint64_t size = 0;
    for (Part& part : consignment.parts) {
        if (part.size_bytes == 0) {
            continue;
        }
        if (looked_at != part.file) {
            struct stat state {};
            if (::fstat(part.file->descriptors->buffered(), &state) != 0) {
                continue;
            }
            looked_at = part.file;
            size = static_cast<std::uint64_t>(state.st_size);
        }
        const std::uint64_t offset = part.work.file_offset;
        if (size < offset + part.size_bytes) {
            part.lost_bytes = offset + part.size_bytes - std::max(size, offset);
            if (!error) {
                error.emplace(ErrorCode::file_truncated,
                              fmt::format("reading '{}': the file was truncated meanwhile, to {} bytes", *part.file->name, size));
            }
        }
    }
    return error;
}

}  // namespace waybill
