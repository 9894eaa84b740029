// The log of receipts that the setting `receipts` asks for: JSON lines on standard error or in a file.
#pragma once

#include "waybill/receipt.hpp"

namespace waybill {

// Appends one line, whole; a log that cannot be written is told once on standard error and never fails the request.
void log_receipt(const Settings& settings, const Receipt& receipt) noexcept;

}  // namespace waybill
