// Lane: a stream with events in one context, leased to one thread at a time and kept warm.
//
// The streams are non-blocking: they don't wait for the legacy default stream by themselves. Thread-safe.
#pragma once

#include <array>
#include <memory>

#include "gpu/cuda.hpp"

namespace waybill {

struct Lane {
    CuContext context = nullptr;
    unsigned long long context_id = 0;  // tells a new context at the same address from the old one
    CuStream stream = nullptr;
    std::array<CuEvent, 2> sleeping_events{};  // waiting for them frees the processor
    std::array<CuEvent, 2> spinning_events{};  // waiting for them spins, which wakes sooner
};

class LaneLease {
public:
    // A lane of `context`, which is current. Throws Error cuda_error.
    LaneLease(const CudaApi& api, CuContext context);
    ~LaneLease();
    LaneLease(const LaneLease&) = delete;
    LaneLease& operator=(const LaneLease&) = delete;
    [[nodiscard]] const Lane* operator->() const noexcept { return lane_.get(); }

private:
    std::unique_ptr<Lane> lane_;
};

}  // namespace waybill
