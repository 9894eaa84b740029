// The stand-in of NVIDIA's driver library: device memory is host memory, and copies really run later, on other threads.
//
// Shared by its files. Objects are never destroyed: libcufile's finalizer runs after ours would.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

using Status = int;
using Pointer = unsigned long long;

inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNotInitialized = 3;
inline constexpr Status kNoDevice = 100;
inline constexpr Status kInvalidDevice = 101;
inline constexpr Status kInvalidContext = 201;
inline constexpr Status kAlreadyMapped = 208;
inline constexpr Status kInvalidHandle = 400;
inline constexpr Status kNotFound = 500;
inline constexpr Status kNotReady = 600;
inline constexpr Status kHostAlreadyRegistered = 712;
inline constexpr Status kHostNotRegistered = 713;
inline constexpr Status kNotSupported = 801;
inline constexpr Status kCaptureUnsupported = 900;
inline constexpr Status kCaptureImplicit = 906;

// ---- faults and switches (faults.cpp)
std::uint64_t number_of(const char* variable, std::uint64_t otherwise);
bool is_set(const char* variable);
// What a call answers before it does anything: 0, or the fault that FAKE_CUDA_FAIL names for it.
Status fault_of(const char* call);

struct Report {
    std::atomic<std::uint64_t> violations{0};
    std::atomic<std::uint64_t> copies{0};
};
Report& report();

// ---- operations in order (stream.cpp)
struct Token {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    void finish();
    void wait();
    bool is_done();
};
using TokenPtr = std::shared_ptr<Token>;

struct Context;

struct Stream {
    Context* context = nullptr;
    bool blocking = true;
    bool legacy = false;
    bool capturing = false;
    struct Operation {
        std::vector<TokenPtr> after;
        std::function<void()> work;
        TokenPtr token;
        bool delayed = false;
    };
    std::mutex mutex;
    std::condition_variable offered;
    std::deque<Operation> queue;
    bool ended = false;
    TokenPtr last;
    void run();
    void start();
};

struct Event {
    std::mutex mutex;
    TokenPtr token;
};

struct Context {
    int device = 0;
    unsigned long long id = 0;
    bool alive = true;
    std::mutex mutex;
    std::vector<Stream*> streams;
    Stream* legacy = nullptr;
};

// Puts work on a stream, in the order that CUDA promises. `handle` as callers give it (null, 1, 2 or a stream).
// Null when the handle is no stream of the current context.
Stream* find_stream(void* handle);
TokenPtr enqueue(Stream& stream, std::function<void()> work, bool delayed, std::vector<TokenPtr> more_after = {});
// Everything that is queued on it, and for the legacy stream on all blocking streams too.
void wait_for_stream(Stream& stream);
Status capture_status(Stream& stream);  // kCaptureImplicit when a legacy operation would break a capture

// ---- devices and contexts (device.cpp)
struct Device {
    int ordinal = 0;
    Context* primary = nullptr;
    int retained = 0;
};
Status enter(const char* call);               // initialised, not forked, no fault
Status enter_context(const char* call, Context*& context);
Device* device_of(int ordinal);
Context* current_context();

// ---- memory (memory.cpp)
enum class Kind { device, managed, pinned, registered };
struct Allocation {
    std::uint64_t size = 0;
    std::byte* bytes = nullptr;  // where the contents really are
    Kind kind = Kind::device;
    int device = 0;
    Context* context = nullptr;  // null: pool or virtual memory
    bool owned_mapping = true;
    unsigned long long id = 0;
};
struct Segment {
    std::byte* bytes = nullptr;
    std::uint64_t size = 0;
};
struct Memory {
    std::mutex mutex;
    std::map<std::uintptr_t, Allocation> all;
    std::uint64_t device_bytes = 0;
    std::uint64_t pinned_bytes = 0;
    // Null when the address lies in none.
    std::map<std::uintptr_t, Allocation>::iterator find(Pointer address);
    // The real places of [address, address + size); `known` is false when CUDA does not know the address at all.
    bool resolve(Pointer address, std::uint64_t size, std::vector<Segment>& segments, bool& known, Kind& kind);
};
Memory& memory();
Status allocate(Pointer* pointer, std::uint64_t size, Kind kind, Context* context, int device);
Status release(Pointer pointer, std::initializer_list<Kind> kinds);
unsigned long long next_id();

}  // namespace fake
