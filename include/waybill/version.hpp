// The library's version: a constant.
#pragma once

#include <string_view>

namespace waybill {

// Major, minor and patch (semver.org); of the headers that a program was built with.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace waybill
