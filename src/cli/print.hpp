// Printing: text or JSON on standard output, messages and progress on standard error.
#pragma once

#include <string_view>

#include "cli/patience.hpp"
#include "waybill/future.hpp"

namespace waybill {

// Writes all of it to standard output. Throws Error io_error when that fails (a full disk); a pipe that nobody reads ends the
// program by SIGPIPE.
void print(std::string_view text);
// A message to standard error, which is not worth an error when it cannot be written.
void print_note(std::string_view text);

// Waits for a request; shows how long the command takes on a terminal after a second. ^C and the time limit cancel the request
// and throw as Patience::check() does. What hangs in the kernel then is left to the end of the process.
const Receipt& wait_visibly(Future& future, const Patience& patience);

}  // namespace waybill
