// The program's end by a signal: what it made for the time being goes first.
#pragma once

namespace waybill {

// Once, before any other thread is started: a thread of its own waits for SIGTERM, SIGHUP and ^C. One that is ignored already
// (nohup) stays so. The exit tells SIGTERM and SIGHUP as ever, and ^C as status 130, as where a command awaits it (Patience, Pause).
void tidy_up_on_signals();

// What ^C does where no command awaits it. For handlers of SIGINT: it calls what they may call.
void end_by_interrupt(int number) noexcept;

}  // namespace waybill
