// Request: one read or write, as the caller asks for it.
//
// A plain value: threads may use one at once as long as none changes it. The memory stays the caller's unless `Target::owner`
// shares it; it must live until the request is done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "waybill/route.hpp"

namespace waybill {

// Where bytes go (a read) or come from (a write).
struct Target {
    // A host address or a CUDA device address of any kind of allocation; which one is asked of the driver.
    void* pointer = nullptr;
    // Bytes from `pointer` on that may be used. For device memory it is checked against the allocation too.
    std::uint64_t capacity_bytes = 0;
    // Kept until the request is done and its receipt or error is collected; may be null.
    std::shared_ptr<void> owner;
    bool read_only = false;
};

// One read or write. Sizes and offsets in bytes; what is wrong with one is told by the call that it is given to (file.hpp).
struct Request {
    std::uint64_t file_offset = 0;
    // Bytes to move; absent: to the end of the file (a read, at most what the target holds) or all of the target (a write).
    std::optional<std::uint64_t> size_bytes;
    Target target;
    std::uint64_t target_offset = 0;  // bytes from target.pointer
    Require require = Require::none;
    // A CUstream: the copies come after what is queued on it. Absent: the legacy default stream of the pointer's context.
    std::optional<void*> stream;
    bool sync = false;                // fsync after a write
    // The memory was made for what the file holds: to ask for more than it has room for is no error then, and comes back short.
    bool room_is_of_file = false;
};

}  // namespace waybill
