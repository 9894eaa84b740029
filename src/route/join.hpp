// Joining: one call may read from several files, and goes one way. Pure.
#pragma once

#include <string_view>

#include "waybill/route.hpp"

namespace waybill {

// The one route for files that alone would go by `first` and by `other`; `name` is the other's file. Neither is refused.
// Where one would go by cuFile and one be staged, all are staged; O_DIRECT is used where a file wants it and can have it.
[[nodiscard]] Route join(const Route& first, const Route& other, std::string_view name);

}  // namespace waybill
