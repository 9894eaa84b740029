// The library's version.
#pragma once

#include <string_view>

namespace waybill {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace waybill
