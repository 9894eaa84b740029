// CachePicture: which parts of a file's range were in the page cache before the first of them was read.
//
// Taken once for a request, because reading changes the answer: the kernel reads ahead, and what it brought would look cached
// to the next read. Immutable; threads share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace waybill {

class CachePicture {
public:
    // Null where the kernel does not tell (base/cachestat).
    [[nodiscard]] static std::shared_ptr<const CachePicture> take(int fd, std::uint64_t offset, std::uint64_t size_bytes);

    struct Cached {
        std::uint64_t bytes = 0;
        bool exact = true;  // false: the range cuts a step that was cached in parts
    };
    // Of a range inside the picture.
    [[nodiscard]] Cached cached_in(std::uint64_t offset, std::uint64_t size_bytes) const noexcept;

    // From `from` on, at most to `to`: bytes that lie in memory whole, and so far before the next ones that do not that
    // reading them through the cache brings nothing into it; or bytes that don't.
    struct Stretch {
        std::uint64_t end = 0;
        bool in_memory = false;
    };
    [[nodiscard]] Stretch stretch(std::uint64_t from, std::uint64_t to) const noexcept;

    // The most that may be read in one call from a stretch in memory: the kernel reads ahead as much as it is asked for.
    static constexpr std::uint64_t kStepBytes = 256 * 1024;

private:
    struct Step {
        std::uint64_t cached_bytes = 0;
        bool in_memory = false;
    };
    CachePicture(std::uint64_t offset, std::uint64_t size_bytes);
    [[nodiscard]] std::uint64_t step_start(std::size_t k) const noexcept;
    [[nodiscard]] std::uint64_t step_end(std::size_t k) const noexcept;
    [[nodiscard]] std::size_t step_of(std::uint64_t offset) const noexcept;
    [[nodiscard]] bool whole(std::size_t k) const noexcept;
    bool count_steps(int fd, std::size_t first, std::size_t last);
    void find_stretches(int fd);

    std::uint64_t offset_;
    std::uint64_t end_;
    std::vector<Step> steps_;  // at multiples of kStepBytes in the file; the outer ones may be shorter
};

}  // namespace waybill
