// Statistics as text for people. Pure.
#pragma once

#include <string>

#include "stats/reader.hpp"

namespace waybill {

// Contradictions first and loud, then a block for each GPU and the host.
[[nodiscard]] std::string to_text(const ProcessStats& stats);

}  // namespace waybill
