#include "io/checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace waybill {
namespace {

constexpr std::uint64_t kMostOffset = std::numeric_limits<std::int64_t>::max();  // off_t

void check_mode(Direction direction, const OpenFile& file, const Request& request) {
    if (direction == Direction::write && !file.may_write) {
        throw Error(ErrorCode::read_only_file, fmt::format("'{}' is open for reading alone; open it with mode r+ or w", *file.name));
    }
    if (direction == Direction::read && !file.may_read) {
        throw Error(ErrorCode::permission_denied,
                    fmt::format("'{}' is open for writing alone; open it with mode r, r+ or w+", *file.name));
    }
    if (direction == Direction::read && request.target.read_only) {
        throw Error(ErrorCode::read_only_destination, "the destination is read-only; give one that may be written to");
    }
    if (direction == Direction::read && request.sync) {
        throw Error(ErrorCode::invalid_argument, "sync is for writes; a read has nothing to bring to storage");
    }
    if (request.room_is_of_file && direction == Direction::write) {
        throw Error(ErrorCode::invalid_argument, "room_is_of_file is for reads; a write has all of its bytes in memory");
    }
}

// Files of /proc and the like say that they are empty, and are not.
void refuse_without_size(int fd, const std::string& name) {
    char byte = 0;
    if (::pread(fd, &byte, 1, 0) == 1) {
        throw Error(ErrorCode::not_regular_file,
                    fmt::format("'{}' has bytes but says that it has none, as files of /proc do; copy it to a file with a size first", name));
    }
}

std::uint64_t room_of(const Request& request) {
    const std::uint64_t capacity = request.target.capacity_bytes;
    if (request.target_offset > capacity) {
        throw Error(ErrorCode::destination_too_small,
                    fmt::format("the offset {} into the memory is past its end ({} bytes)", request.target_offset, capacity));
    }
    return capacity - request.target_offset;
}

}  // namespace

RequestRange check_range(Direction direction, const OpenFile& file, int fd, const FileExtent& extent, const Request& request) {
    check_mode(direction, file, request);
    RequestRange range;
    const std::uint64_t room = room_of(request);
    std::uint64_t rest = room;
    if (direction == Direction::read) {
        const std::uint64_t size = extent.size_bytes;
        range.is_sparse = extent.is_sparse;
        if (size == 0) {
            refuse_without_size(fd, *file.name);
        }
        if (request.file_offset > size) {
            throw Error(ErrorCode::offset_past_end, fmt::format("offset {} is past the end of '{}' ({} bytes)",
                                                                request.file_offset, *file.name, size));
        }
        rest = size - request.file_offset;
    }
    range.asked_bytes = request.size_bytes.value_or(std::min(room, rest));
    if (range.asked_bytes > room && !request.room_is_of_file) {
        throw Error(ErrorCode::destination_too_small,
                    fmt::format("{} bytes do not fit in the {} bytes of memory from offset {}", range.asked_bytes, room,
                                request.target_offset));
    }
    if (request.file_offset > kMostOffset || range.asked_bytes > kMostOffset - request.file_offset) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("offset {} and size {} together are beyond what a file can have", request.file_offset,
                                range.asked_bytes));
    }
    range.size_bytes = direction == Direction::read ? std::min({range.asked_bytes, rest, room}) : range.asked_bytes;
    if (range.size_bytes != 0 && request.target.pointer == nullptr) {
        throw Error(ErrorCode::null_pointer, "the address of the memory is null");
    }
    return range;
}

void check_device_range(const PointerOwner& owner, const Request& request, std::uint64_t size_bytes) {
    if (!owner.on_gpu() || size_bytes == 0) {
        return;
    }
    if (owner.rest_bytes >= request.target_offset + size_bytes) {
        return;
    }
    const auto start = reinterpret_cast<CuPointer>(request.target.pointer) + request.target_offset;
    const std::uint64_t covered = covered_bytes(*cuda_if_loaded(), start, size_bytes);
    if (covered == 0) {
        throw Error(ErrorCode::bad_pointer, fmt::format("the address {:#x} belongs to no allocation of a GPU", start));
    }
    if (covered < size_bytes) {
        throw Error(ErrorCode::destination_too_small,
                    fmt::format("only {} of {} bytes from the address {:#x} on are allocated on the GPU", covered, size_bytes, start));
    }
}

}  // namespace waybill
