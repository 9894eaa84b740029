// The receipt of a transfer whose bytes have stopped moving: from what was decided, what became of it, and the evidence.
#pragma once

#include <optional>

#include "io/consignment.hpp"
#include "io/tally.hpp"

namespace waybill {

[[nodiscard]] Receipt make_receipt(const Consignment& consignment, const Tally& tally, const Evidence& evidence);

// Puts down that the transfer ended early, by this error, and which bytes are good.
void add_error(Receipt& receipt, const Error& error, const Consignment& consignment, const Tally& tally);

// What `require` says to the evidence; nothing when it is met.
[[nodiscard]] std::optional<Error> requirement_error(const Consignment& consignment, const Receipt& receipt);

}  // namespace waybill
