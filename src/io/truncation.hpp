// Whether files became shorter while they were read.
#pragma once

#include <optional>

#include "io/consignment.hpp"

namespace waybill {

// Looks at the size of every file that a part of 64 KiB or more was read from, and notes what the part lost.
// Returns Error file_truncated for the first part that lost bytes. A read that overtakes a truncation can give zeros for bytes
// that are gone, without a word: the kernel clears what it cuts off a page while others may copy from it (seen on 6.18).
[[nodiscard]] std::optional<Error> note_truncations(Consignment& consignment);

}  // namespace waybill
