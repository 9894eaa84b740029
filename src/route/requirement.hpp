// What `require` says to a route, before any byte moves. Pure.
#pragma once

#include "waybill/route.hpp"

namespace waybill {

// Could this path be the one that is required?
[[nodiscard]] bool satisfies(Path path, Require require) noexcept;

// Sets route.refused when the route already says no.
void check_requirement(Route& route, Require require);

}  // namespace waybill
