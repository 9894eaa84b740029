// Patience: how long a command waits for others: until ^C or the end of its time limit.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace waybill {

// While one lives the first ^C is only noted, and the second ends the program at once; where it is ignored (nohup) it stays so.
// One a program, on its main thread.
class Patience {
public:
    // `limit_ns`: from now on; 0 for none.
    explicit Patience(std::uint64_t limit_ns);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    // Throws Error interrupted, or timeout with a sentence that begins with `what`.
    void check(const std::string& what) const;
    [[nodiscard]] std::uint64_t passed_ns() const noexcept;  // since it began

    // Whoever waits looks this often.
    static constexpr std::chrono::milliseconds kLook{50};

private:
    std::uint64_t limit_ns_;
    std::uint64_t start_ns_;
    struct sigaction before_ {};
};

}  // namespace waybill
