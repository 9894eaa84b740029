// The log of receipts that the setting `receipts` asks for: JSON lines on standard error or in a file.
#pragma once

#include <string>

#include "waybill/receipt.hpp"

namespace waybill {

// For a file that is opened, or whose bytes are to move: throws Error invalid_argument where the log is that file, which
// must not be added to.
void refuse_as_log(const Settings& settings, const std::string& name);

// Appends one line, whole; a log that cannot be written is told once on standard error and never fails the request.
void log_receipt(const Settings& settings, const Receipt& receipt) noexcept;

}  // namespace waybill
