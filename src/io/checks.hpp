// Checks of a request against its file and its memory, before anything else happens.
#pragma once

#include "gpu/pointer.hpp"
#include "io/open_file.hpp"
#include "waybill/request.hpp"

namespace waybill {

struct RequestRange {
    std::uint64_t asked_bytes = 0;
    std::uint64_t size_bytes = 0;  // what will move: less than asked where a read meets the end of the file
    bool is_sparse = false;        // a read of a file that takes less storage than its size
};

// `extent`: the file's at this moment, for a read. Throws Error read_only_file, permission_denied (not open for reading), offset_past_end, destination_too_small,
// null_pointer, read_only_destination, invalid_argument.
[[nodiscard]] RequestRange check_range(Direction direction, const OpenFile& file, int fd, const FileExtent& extent,
                                       const Request& request);

// Throws Error bad_pointer, destination_too_small when device memory does not cover the range.
void check_device_range(const PointerOwner& owner, const Request& request, std::uint64_t size_bytes);

}  // namespace waybill
