#include "plan/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace waybill {
namespace {

constexpr std::uint64_t kColumns = 56;
constexpr std::uint64_t kMostBoxes = 8;
constexpr std::uint64_t kFirstBoxes = 5;

// A box of its share of the line, but never narrower than its number.
std::string box(std::uint64_t number, std::uint64_t bytes, std::uint64_t total_bytes) {
    const double share = static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(1, total_bytes));
    return fmt::format("{:<{}}", number, static_cast<std::uint64_t>(share * kColumns));
}

}  // namespace

std::string draw(const Shares& shares) {
    if (shares.count == 0) {
        return "[]";
    }
    const bool all = shares.count <= kMostBoxes;
    const std::uint64_t first = all ? shares.count - 1 : kFirstBoxes;
    // Where some are left out the line stands for those that are drawn.
    const std::uint64_t total = first * shares.size_bytes + shares.last_bytes;
    std::string line = "[";
    for (std::uint64_t k = 0; k < first; ++k) {
        line += box(k + 1, shares.size_bytes, total) + "|";
    }
    if (!all) {
        line += " ... |";
    }
    return line + box(shares.count, shares.last_bytes, total) + "]";
}

}  // namespace waybill
