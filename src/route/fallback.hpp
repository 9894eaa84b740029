// Fallback: what becomes of a route when cuFile refuses the file, or fails with bytes on their way. Pure.
#pragma once

#include "waybill/route.hpp"

namespace waybill {

// May the bytes be staged instead? Where cuFile was asked for (compat_mode=off), or a path is required, its failure is the answer.
[[nodiscard]] bool may_fall_back(const Route& route, const Settings& settings, Require require) noexcept;

// The route that stages all of the bytes, `reason` first.
[[nodiscard]] Route fall_back(const Route& route, Reason reason);

}  // namespace waybill
