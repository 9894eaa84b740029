#include "io/consignment.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/clock.hpp"
#include "pool/slots.hpp"

namespace waybill {

SetupCosts SetupCosts::now() {
    return {SlotPool::pin_ns(), ::waybill::cufile_open_ns(),
            SlotPool::instance().refusals()};
}

std::uint64_t rest_of_limit_ns(const Consignment& consignment) noexcept {
    const std::uint64_t limit_ns = consignment.settings->time_limit.value;
    const std::uint64_t passed_ns = now_ns() - consignment.start_ns;
    return limit_ns == 0 ? 0 : std::max<std::uint64_t>(1, limit_ns - std::min(limit_ns, passed_ns));
}

std::uint64_t lay_out_units(std::vector<Part>& parts) noexcept {
    std::uint64_t units = 0;
    std::uint64_t bytes = 0;
    for (Part& part : parts) {
        part.first_unit = units;
        part.first_byte = bytes;
        units += part.units.count();
        bytes += part.size_bytes;
    }
    return units;
}

const Part& part_of(const std::vector<Part>& parts, std::uint64_t unit) noexcept {
    const auto after = std::upper_bound(parts.begin(), parts.end(), unit,
                                        [](std::uint64_t wanted, const Part& part) { return wanted < part.first_unit; });
    return *std::prev(after);
}

const Part& part_of(const std::vector<Part>& parts, const Assignment& assignment) noexcept {
    // The last part whose work is not behind this one.
    const auto after = std::upper_bound(parts.begin(), parts.end(), assignment.work,
                                        [](const Work* wanted, const Part& part) { return std::less<>()(wanted, &part.work); });
    return *std::prev(after);
}

}  // namespace waybill
