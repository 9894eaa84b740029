#include "pool/lanes.hpp"

#include <iterator>
#include <mutex>
#include <vector>

#include "base/forks.hpp"

namespace waybill {
namespace {

struct Lanes {
    std::mutex mutex;
    std::vector<std::unique_ptr<Lane>> free;
};
ForkLocal<Lanes> the_lanes;

unsigned long long id_of(const CudaApi& api, CuContext context) noexcept {
    unsigned long long id = 0;
    if (api.context_id != nullptr) {
        api.context_id(context, &id);
    }
    return id;
}

std::unique_ptr<Lane> take_free(CuContext context, unsigned long long context_id) {
    Lanes& lanes = the_lanes.get();
    const std::lock_guard lock(lanes.mutex);
    for (auto lane = lanes.free.rbegin(); lane != lanes.free.rend(); ++lane) {
        if ((*lane)->context == context && (*lane)->context_id == context_id) {
            auto taken = std::move(*lane);
            lanes.free.erase(std::next(lane).base());
            return taken;
        }
    }
    return nullptr;
}

}  // namespace

LaneLease::LaneLease(const CudaApi& api, CuContext context) {
    const unsigned long long context_id = id_of(api, context);
    lane_ = take_free(context, context_id);
    if (lane_) {
        return;
    }
    lane_ = std::make_unique<Lane>();
    lane_->context = context;
    lane_->context_id = context_id;
    check_cuda(api.stream_create(&lane_->stream, kStreamNonBlocking), "cuStreamCreate");
    for (CuEvent& event : lane_->sleeping_events) {
        check_cuda(api.event_create(&event, kEventDisableTiming | kEventBlockingSync), "cuEventCreate");
    }
    for (CuEvent& event : lane_->spinning_events) {
        check_cuda(api.event_create(&event, kEventDisableTiming), "cuEventCreate");
    }
}

LaneLease::~LaneLease() {
    Lanes& lanes = the_lanes.get();
    const std::lock_guard lock(lanes.mutex);
    try {
        lanes.free.push_back(std::move(lane_));
    } catch (...) {  // no memory for the list: the stream is left to its context
    }
}

}  // namespace waybill
