// The engine that hands tasks to NVIDIA's cuFile, which chooses the path by itself.
#pragma once

#include "engine/engine.hpp"

namespace waybill {

[[nodiscard]] std::unique_ptr<Engine> make_cufile_engine(Direction direction, const Lading& lading);

}  // namespace waybill
