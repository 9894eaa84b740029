// Printing: text or JSON on standard output, messages and progress on standard error.
#pragma once

#include <string_view>

#include "waybill/future.hpp"

namespace waybill {

// Writes all of it to standard output. Throws Error io_error when that fails (a full disk); a pipe that nobody reads ends the
// program by SIGPIPE.
void print(std::string_view text);
// A message to standard error, which is not worth an error when it cannot be written.
void print_note(std::string_view text);

// Waits for a request; shows how long it takes on a terminal after a second; ^C cancels it and throws Error interrupted, a
// second ^C ends the program at once. With a limit (nanoseconds, 0 for none) throws Error timeout.
// What hangs in the kernel then is left to the end of the process.
const Receipt& wait_visibly(Future& future, std::uint64_t limit_ns);


}  // namespace waybill
