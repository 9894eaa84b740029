// Pause: waiting for some time, ^C, or the end of another process, whichever comes first.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/fd.hpp"

namespace waybill {

enum class PauseEnd { time, interrupted, process_ended };

// While one lives, SIGINT ends the pause and nothing else: the program looks at what it is told. One a program.
class Pause {
public:
    // `pid`: the process whose end is waited for; kernels before 5.3 don't tell it.
    explicit Pause(std::optional<std::int64_t> pid = {});
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

    [[nodiscard]] PauseEnd wait(std::chrono::nanoseconds time) const;

private:
    sigset_t before_{};
    Fd interrupt_;
    Fd process_;
};

}  // namespace waybill
