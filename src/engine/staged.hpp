// The staged engine: bytes pass through pinned slots. While one slot's copy is under way the next is being filled.
#pragma once

#include "engine/engine.hpp"

namespace waybill {

[[nodiscard]] std::unique_ptr<Engine> make_staged_engine(Direction direction, const Lading& lading);

}  // namespace waybill
