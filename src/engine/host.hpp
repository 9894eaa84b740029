// The engine of host memory: bytes go between file and memory by system calls, with no stop on the way.
#pragma once

#include "engine/engine.hpp"

namespace waybill {

[[nodiscard]] std::unique_ptr<Engine> make_host_engine(Direction direction, const Lading& lading);

}  // namespace waybill
