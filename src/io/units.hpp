// Units: what threads claim of a transfer, one after the other.
//
// A task of cuFile's is one unit. A task that is staged or read to the host is cut into units of at most a slot, so that
// one large task occupies all threads. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "waybill/plan.hpp"

namespace waybill {

class Units {
public:
    // `most_bytes`: of one unit; at least 1.
    Units(std::uint64_t size_bytes, std::uint64_t task_bytes, std::uint64_t most_bytes) noexcept
        : size_bytes_(size_bytes), task_bytes_(std::max<std::uint64_t>(1, std::min(task_bytes, std::max<std::uint64_t>(size_bytes, 1)))),
          unit_bytes_(std::clamp<std::uint64_t>(most_bytes, 1, task_bytes_)),
          per_task_((task_bytes_ + unit_bytes_ - 1) / unit_bytes_),
          count_(size_bytes / task_bytes_ * per_task_ + (size_bytes % task_bytes_ + unit_bytes_ - 1) / unit_bytes_) {}

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // The k-th unit, k < count(): in order, without a gap or an overlap.
    [[nodiscard]] Task at(std::uint64_t k) const noexcept {
        const std::uint64_t task_start = k / per_task_ * task_bytes_;
        const std::uint64_t start = task_start + k % per_task_ * unit_bytes_;
        const std::uint64_t end = std::min({start + unit_bytes_, task_start + task_bytes_, size_bytes_});
        return {start, end - start};
    }

private:
    std::uint64_t size_bytes_;
    std::uint64_t task_bytes_;
    std::uint64_t unit_bytes_;
    std::uint64_t per_task_;
    std::uint64_t count_;
};

}  // namespace waybill
