// The program's end by SIGTERM or SIGHUP: what it made for the time being goes first.
#pragma once

namespace waybill {

// Once, before any other thread is started: a thread of its own waits for both signals. One that is ignored already (nohup)
// stays so. The exit tells the signal as ever.
void tidy_up_on_signals();

}  // namespace waybill
