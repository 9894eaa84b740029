#include <algorithm>
#include <cstring>
#include <memory>

#include "fake.hpp"

using namespace fake;

namespace {

// Both ends of a copy, resolved when it is asked for: memory that is freed meanwhile stays readable in this stand-in's eyes.
struct Copy {
    std::vector<Segment> to;
    std::vector<Segment> from;
    bool to_known = false;
    bool from_known = false;
    Kind to_kind = Kind::pinned;
    Kind from_kind = Kind::pinned;
};

bool resolve(Pointer address, std::uint64_t size, std::vector<Segment>& segments, bool& known, Kind& kind) {
    if (!memory().resolve(address, size, segments, known, kind)) {
        return false;
    }
    if (!known) {
        segments.push_back({reinterpret_cast<std::byte*>(address), size});
    }
    return true;
}

void move(std::vector<Segment> to, std::vector<Segment> from) {
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < to.size() && b < from.size()) {
        const std::uint64_t count = std::min(to[a].size, from[b].size);
        std::memcpy(to[a].bytes, from[b].bytes, count);
        for (auto [segments, at] : {std::pair{&to, &a}, std::pair{&from, &b}}) {
            Segment& segment = (*segments)[*at];
            segment.bytes += count;
            segment.size -= count;
            *at += segment.size == 0 ? 1 : 0;
        }
    }
    ++report().copies;
}

Status start(const char* call, Pointer to, Pointer from, std::uint64_t size, void* handle, bool wait) {
    Context* context = nullptr;
    if (const Status status = enter_context(call, context)) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    if (const Status status = capture_status(*stream)) {
        return status;
    }
    if (size == 0) {
        return kSuccess;
    }
    Copy copy;
    if (!resolve(to, size, copy.to, copy.to_known, copy.to_kind) || !resolve(from, size, copy.from, copy.from_known, copy.from_kind)) {
        return kInvalidValue;
    }
    if (!copy.from_known && !wait) {
        // The driver copies pageable memory away before it returns; pinned memory is read when the copy runs.
        auto kept = std::make_shared<std::vector<std::byte>>(size);
        move({{kept->data(), size}}, copy.from);
        enqueue(*stream, [to_segments = copy.to, kept] { move(to_segments, {{kept->data(), kept->size()}}); }, true);
        return kSuccess;
    }
    const TokenPtr token = enqueue(*stream, [copy] { move(copy.to, copy.from); }, true);
    if (wait || !copy.to_known) {
        token->wait();
    }
    return kSuccess;
}

Pointer address(const void* pointer) { return reinterpret_cast<Pointer>(pointer); }

Status set(const char* call, Pointer to, unsigned char value, std::uint64_t size, void* handle, bool wait) {
    Context* context = nullptr;
    if (const Status status = enter_context(call, context)) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    std::vector<Segment> segments;
    bool known = false;
    Kind kind = Kind::device;
    if (stream == nullptr || !memory().resolve(to, size, segments, known, kind) || !known) {
        return kInvalidValue;
    }
    const TokenPtr token = enqueue(*stream, [segments, value] {
        for (const Segment& segment : segments) {
            std::memset(segment.bytes, value, segment.size);
        }
    }, true);
    if (wait) {
        token->wait();
    }
    return kSuccess;
}

}  // namespace

FAKE_EXPORT Status cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t size) {
    return start("cuMemcpyHtoD_v2", to, address(from), size, nullptr, true);
}
FAKE_EXPORT Status cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t size) {
    return start("cuMemcpyDtoH_v2", address(to), from, size, nullptr, true);
}
FAKE_EXPORT Status cuMemcpy(Pointer to, Pointer from, std::size_t size) { return start("cuMemcpy", to, from, size, nullptr, true); }
FAKE_EXPORT Status cuMemcpyAsync(Pointer to, Pointer from, std::size_t size, void* stream) {
    return start("cuMemcpyAsync", to, from, size, stream, false);
}
FAKE_EXPORT Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t size, void* stream) {
    return start("cuMemcpyHtoDAsync_v2", to, address(from), size, stream, false);
}
FAKE_EXPORT Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t size, void* stream) {
    return start("cuMemcpyDtoHAsync_v2", address(to), from, size, stream, false);
}
FAKE_EXPORT Status cuMemcpyBatchAsync_v2(Pointer* to, Pointer* from, std::size_t* sizes, std::size_t count, int* attributes,
                                         std::size_t* starts, std::size_t attribute_count, void* stream) {
    // The driver refuses the legacy stream, an empty batch, and attributes that do not begin with the first copy.
    constexpr int kInStreamOrder = 1;
    if (stream == nullptr || count == 0 || attribute_count != 1 || starts[0] != 0 || attributes[0] != kInStreamOrder) {
        return kInvalidValue;
    }
    for (std::size_t k = 0; k < count; ++k) {
        if (const Status status = start("cuMemcpyBatchAsync_v2", to[k], from[k], sizes[k], stream, false)) {
            return status;
        }
    }
    return kSuccess;
}
FAKE_EXPORT Status cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, std::size_t size, void* stream) {
    return start("cuMemcpyDtoDAsync_v2", to, from, size, stream, false);
}
FAKE_EXPORT Status cuMemsetD8_v2(Pointer to, unsigned char value, std::size_t size) {
    return set("cuMemsetD8_v2", to, value, size, nullptr, true);
}
FAKE_EXPORT Status cuMemsetD8Async(Pointer to, unsigned char value, std::size_t size, void* stream) {
    return set("cuMemsetD8Async", to, value, size, stream, false);
}
