#include "io/order.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace waybill {
namespace {

// CU_STREAM_PER_THREAD: it names another stream in every thread.
CuStream const kPerThreadStream = reinterpret_cast<CuStream>(2);

// The streams of requests that move bytes, each once.
std::vector<CuStream> streams_of(const Consignment& consignment, std::span<const FileAndRequest> requests) {
    std::vector<CuStream> streams;
    for (std::size_t k = 0; k < requests.size(); ++k) {
        const CuStream stream = requests[k].request->stream.value_or(nullptr);
        if (consignment.parts[k].size_bytes != 0 && std::find(streams.begin(), streams.end(), stream) == streams.end()) {
            streams.push_back(stream);
        }
    }
    return streams;
}

void refuse_capturing(const CudaApi& api, CuStream stream) {
    int capturing = 0;
    const CuStatus status = api.stream_is_capturing(stream, &capturing);
    // cudaErrorStreamCapture...: what a capture elsewhere answers for the legacy stream.
    constexpr CuStatus kFirstOfCapture = 900;
    constexpr CuStatus kLastOfCapture = 908;
    const bool refused = status >= kFirstOfCapture && status <= kLastOfCapture;
    if (!refused) {
        check_cuda(status, "cuStreamIsCapturing");
    }
    if (refused || capturing != 0) {
        throw Error(ErrorCode::capturing_stream,
                    "the stream is being captured into a graph, which a read or write of a file cannot be part of; move it "
                    "before the capture",
                    refused ? native_cuda(status) : NativeCode{});
    }
}

bool is_busy(const CudaApi& api, CuStream stream) {
    const CuStatus status = api.stream_query(stream);
    if (status != kCudaNotReady) {
        check_cuda(status, "cuStreamQuery");
    }
    return status == kCudaNotReady;
}

// Events that are destroyed unless they are handed on.
class Events {
public:
    explicit Events(const CudaApi& api) noexcept : api_(api) {}
    ~Events() {
        for (const CuEvent event : events_) {
            api_.event_destroy(event);
        }
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    void record(CuStream stream) {
        CuEvent event = nullptr;
        check_cuda(api_.event_create(&event, kEventDisableTiming), "cuEventCreate");
        events_.push_back(event);
        if (api_.event_record(event, stream) != kCudaSuccess) {
            // A stream of another context takes no event of this one.
            check_cuda(api_.stream_synchronize(stream), "cuStreamSynchronize");
        }
    }
    [[nodiscard]] std::vector<CuEvent> hand_on() noexcept { return std::exchange(events_, {}); }

private:
    const CudaApi& api_;
    std::vector<CuEvent> events_;
};

// One unit can be copied on the caller's stream itself, if that is the same stream in every thread.
bool fits_on_callers_stream(const Consignment& consignment, const std::vector<CuStream>& streams) {
    return streams.size() == 1 && !consignment.many && streams.front() != kPerThreadStream &&
           consignment.parts.front().units.count() == 1;
}

}  // namespace

void order_after_callers(Consignment& consignment, std::span<const FileAndRequest> requests) {
    Lading& lading = consignment.lading;
    if (!lading.owner.on_gpu() || consignment.plan.size_bytes == 0) {
        return;
    }
    const CudaApi& api = *cuda_if_loaded();
    const CurrentContext current(lading.owner.context);
    std::vector<CuStream> streams = streams_of(consignment, requests);
    for (const CuStream stream : streams) {
        refuse_capturing(api, stream);
    }
    if (consignment.route->engine == EngineKind::cufile || consignment.direction == Direction::write) {
        for (const CuStream stream : streams) {
            check_cuda(api.stream_synchronize(stream), "cuStreamSynchronize");
        }
        return;
    }
    std::erase_if(streams, [&](CuStream stream) { return !is_busy(api, stream); });  // nothing to come after
    if (fits_on_callers_stream(consignment, streams)) {
        lading.on_callers_stream = true;
        lading.stream = streams.front();
        return;
    }
    Events events(api);
    for (const CuStream stream : streams) {
        events.record(stream);
    }
    lading.after = events.hand_on();
}

}  // namespace waybill
