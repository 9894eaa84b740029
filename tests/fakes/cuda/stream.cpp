#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fake.hpp"

namespace fake {

void Token::finish() {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
}

void Token::wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
}

bool Token::is_done() {
    const std::lock_guard lock(mutex);
    return done;
}

void Stream::run() {
    static const std::uint64_t delay_us = number_of("FAKE_CUDA_DELAY_US", 20);
    while (true) {
        Operation operation;
        {
            std::unique_lock lock(mutex);
            offered.wait(lock, [this] { return ended || !queue.empty(); });
            if (queue.empty()) {
                return;
            }
            operation = std::move(queue.front());
            queue.pop_front();
        }
        for (const TokenPtr& token : operation.after) {
            token->wait();
        }
        if (operation.delayed && delay_us != 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        }
        if (operation.work) {
            operation.work();
        }
        operation.token->finish();
    }
}

void Stream::start() {
    std::thread([this] { run(); }).detach();
}

TokenPtr enqueue(Stream& stream, std::function<void()> work, bool delayed, std::vector<TokenPtr> more_after) {
    Context& context = *stream.context;
    const std::lock_guard order(context.mutex);  // one order for the whole context
    Stream::Operation operation;
    operation.after = std::move(more_after);
    operation.token = std::make_shared<Token>();
    operation.work = std::move(work);
    operation.delayed = delayed;
    // The legacy stream comes after all blocking streams, and they come after it.
    if (stream.legacy) {
        for (Stream* other : context.streams) {
            if (other->blocking && other->last) {
                operation.after.push_back(other->last);
            }
        }
    } else if (stream.blocking && context.legacy->last) {
        operation.after.push_back(context.legacy->last);
    }
    TokenPtr token = operation.token;
    const std::lock_guard lock(stream.mutex);
    stream.last = token;
    stream.queue.push_back(std::move(operation));
    stream.offered.notify_one();
    return token;
}

void wait_for_stream(Stream& stream) {
    std::vector<TokenPtr> tokens;
    {
        const std::lock_guard order(stream.context->mutex);
        if (stream.last) {
            tokens.push_back(stream.last);
        }
        if (stream.legacy) {
            for (Stream* other : stream.context->streams) {
                if (other->blocking && other->last) {
                    tokens.push_back(other->last);
                }
            }
        }
    }
    for (const TokenPtr& token : tokens) {
        token->wait();
    }
}

Status capture_status(Stream& stream) {
    if (!stream.legacy) {
        return stream.capturing ? kCaptureUnsupported : kSuccess;
    }
    const std::lock_guard order(stream.context->mutex);
    const bool broken = std::any_of(stream.context->streams.begin(), stream.context->streams.end(),
                                    [](const Stream* other) { return other->blocking && other->capturing; });
    return broken ? kCaptureImplicit : kSuccess;
}

Stream* find_stream(void* handle) {
    Context* const context = current_context();
    if (context == nullptr) {
        return nullptr;
    }
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    if (number <= 1) {
        return context->legacy;
    }
    if (number == 2) {  // CU_STREAM_PER_THREAD
        thread_local std::map<Context*, Stream*> own;
        Stream*& stream = own[context];
        if (stream == nullptr) {
            stream = new Stream();
            stream->context = context;
            stream->start();
            const std::lock_guard order(context->mutex);
            context->streams.push_back(stream);
        }
        return stream;
    }
    auto* const stream = static_cast<Stream*>(handle);
    const std::lock_guard order(context->mutex);
    const bool known = std::find(context->streams.begin(), context->streams.end(), stream) != context->streams.end();
    return known ? stream : nullptr;
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT Status cuStreamCreateWithPriority(void** handle, unsigned flags, int /*priority*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuStreamCreate", context)) {
        return status;
    }
    auto* const stream = new Stream();
    stream->context = context;
    stream->blocking = (flags & 1) == 0;
    stream->start();
    const std::lock_guard order(context->mutex);
    context->streams.push_back(stream);
    *handle = stream;
    return kSuccess;
}
FAKE_EXPORT Status cuStreamCreate(void** handle, unsigned flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

FAKE_EXPORT Status cuStreamDestroy_v2(void* handle) {
    if (const Status status = enter("cuStreamDestroy_v2")) {
        return status;
    }
    auto* const stream = static_cast<Stream*>(handle);
    {
        const std::lock_guard order(stream->context->mutex);
        auto& all = stream->context->streams;
        all.erase(std::remove(all.begin(), all.end(), stream), all.end());
    }
    const std::lock_guard lock(stream->mutex);
    stream->ended = true;  // its thread ends when the queue is empty; the object stays
    stream->offered.notify_one();
    return kSuccess;
}

FAKE_EXPORT Status cuStreamSynchronize(void* handle) {
    if (const Status status = enter("cuStreamSynchronize")) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return current_context() == nullptr ? kInvalidContext : kInvalidHandle;
    }
    if (const Status status = capture_status(*stream)) {
        return status;
    }
    wait_for_stream(*stream);
    return kSuccess;
}

FAKE_EXPORT Status cuStreamQuery(void* handle) {
    if (const Status status = enter("cuStreamQuery")) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    if (const Status status = capture_status(*stream)) {
        return status;
    }
    const std::lock_guard order(stream->context->mutex);
    bool idle = !stream->last || stream->last->is_done();
    if (stream->legacy) {
        for (const Stream* other : stream->context->streams) {
            idle = idle && (!other->blocking || !other->last || other->last->is_done());
        }
    }
    return idle ? kSuccess : kNotReady;
}

FAKE_EXPORT Status cuStreamWaitEvent(void* handle, void* event_handle, unsigned /*flags*/) {
    if (const Status status = enter("cuStreamWaitEvent")) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    if (stream == nullptr || event_handle == nullptr) {
        return kInvalidHandle;
    }
    auto* const event = static_cast<Event*>(event_handle);
    TokenPtr token;
    {
        const std::lock_guard lock(event->mutex);
        token = event->token;
    }
    if (token) {
        enqueue(*stream, {}, false, {token});
    }
    return kSuccess;
}

FAKE_EXPORT Status cuStreamIsCapturing(void* handle, int* capturing) {
    if (const Status status = enter("cuStreamIsCapturing")) {
        return status;
    }
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return current_context() == nullptr ? kInvalidContext : kInvalidHandle;
    }
    *capturing = stream->capturing ? 1 : 0;
    return stream->legacy ? capture_status(*stream) : kSuccess;
}

FAKE_EXPORT Status cuStreamBeginCapture_v2(void* handle, int /*mode*/) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr || stream->legacy) {
        return kCaptureUnsupported;
    }
    stream->capturing = true;
    return kSuccess;
}

FAKE_EXPORT Status cuStreamEndCapture(void* handle, void** graph) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr || !stream->capturing) {
        return kInvalidHandle;
    }
    stream->capturing = false;
    *graph = nullptr;
    return kSuccess;
}

FAKE_EXPORT Status cuThreadExchangeStreamCaptureMode(int* mode) {
    thread_local int current = 0;
    std::swap(current, *mode);
    return kSuccess;
}

FAKE_EXPORT Status cuStreamGetCtx(void* handle, void** context) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    *context = stream->context;
    return kSuccess;
}

FAKE_EXPORT Status cuEventCreate(void** handle, unsigned /*flags*/) {
    Context* context = nullptr;
    if (const Status status = enter_context("cuEventCreate", context)) {
        return status;
    }
    *handle = new Event();
    return kSuccess;
}

FAKE_EXPORT Status cuEventDestroy_v2(void* handle) {
    if (const Status status = enter("cuEventDestroy_v2")) {
        return status;
    }
    delete static_cast<Event*>(handle);
    return kSuccess;
}

FAKE_EXPORT Status cuEventRecord(void* handle, void* stream_handle) {
    if (const Status status = enter("cuEventRecord")) {
        return status;
    }
    Stream* const stream = find_stream(stream_handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    if (const Status status = capture_status(*stream)) {
        return status;
    }
    auto* const event = static_cast<Event*>(handle);
    TokenPtr token = enqueue(*stream, {}, false);
    const std::lock_guard lock(event->mutex);
    event->token = std::move(token);
    return kSuccess;
}

FAKE_EXPORT Status cuEventQuery(void* handle) {
    if (const Status status = enter("cuEventQuery")) {
        return status;
    }
    auto* const event = static_cast<Event*>(handle);
    const std::lock_guard lock(event->mutex);
    return !event->token || event->token->is_done() ? kSuccess : kNotReady;
}

FAKE_EXPORT Status cuEventSynchronize(void* handle) {
    if (const Status status = enter("cuEventSynchronize")) {
        return status;
    }
    auto* const event = static_cast<Event*>(handle);
    TokenPtr token;
    {
        const std::lock_guard lock(event->mutex);
        token = event->token;
    }
    if (token) {
        token->wait();
    }
    return kSuccess;
}

FAKE_EXPORT Status cuEventElapsedTime(float* milliseconds, void* /*start*/, void* /*end*/) {
    *milliseconds = 0.01F;
    return kSuccess;
}

FAKE_EXPORT Status cuLaunchHostFunc(void* handle, void (*function)(void*), void* argument) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    enqueue(*stream, [function, argument] { function(argument); }, true);
    return kSuccess;
}

// The values that streams wait for and write are host memory here.
FAKE_EXPORT Status cuStreamWriteValue32_v2(void* handle, Pointer address, std::uint32_t value, unsigned /*flags*/) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    enqueue(*stream, [address, value] { __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), value, __ATOMIC_SEQ_CST); }, false);
    return kSuccess;
}

FAKE_EXPORT Status cuStreamWaitValue32_v2(void* handle, Pointer address, std::uint32_t value, unsigned /*flags*/) {
    Stream* const stream = find_stream(handle);
    if (stream == nullptr) {
        return kInvalidHandle;
    }
    enqueue(*stream,
            [address, value] {
                while (__atomic_load_n(reinterpret_cast<std::uint32_t*>(address), __ATOMIC_SEQ_CST) < value) {
                    ::usleep(10);
                }
            },
            false);
    return kSuccess;
}
