#include <charconv>
#include <limits>
#include <string>

#include "base/text.hpp"
#include "waybill/error.hpp"
#include "waybill/settings.hpp"

namespace waybill {
namespace {

struct Unit {
    std::string_view suffix;
    std::uint64_t factor;
};

constexpr std::uint64_t kKi = 1024;
constexpr Unit kUnits[] = {
    {"", 1},         {"b", 1},
    {"k", kKi},      {"kib", kKi},      {"kb", 1000},
    {"m", kKi * kKi}, {"mib", kKi * kKi}, {"mb", 1000ULL * 1000},
    {"g", kKi * kKi * kKi}, {"gib", kKi * kKi * kKi}, {"gb", 1000ULL * 1000 * 1000},
    {"t", kKi * kKi * kKi * kKi}, {"tib", kKi * kKi * kKi * kKi}, {"tb", 1000ULL * 1000 * 1000 * 1000},
};

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view why) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + ": '" + std::string(text) + "' " + std::string(why) +
                                                 "; write a whole number of bytes, or one with a unit like 16K, 4MiB, 1GiB");
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::string_view what) {
    const std::string_view body = trim(text);
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), number);
    if (problem == std::errc::result_out_of_range) {
        refuse(text, what, "is too large (more than 2^64-1)");
    }
    if (problem != std::errc()) {
        refuse(text, what, "is not a size");
    }
    const std::string suffix = lower(trim(body.substr(static_cast<std::size_t>(end - body.data()))));
    for (const Unit& unit : kUnits) {
        if (suffix == unit.suffix) {
            if (number > std::numeric_limits<std::uint64_t>::max() / unit.factor) {
                refuse(text, what, "is too large (more than 2^64-1)");
            }
            return number * unit.factor;
        }
    }
    refuse(text, what, "has an unknown unit");
}

}  // namespace waybill
