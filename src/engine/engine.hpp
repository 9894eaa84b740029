// Engine: moves bytes and knows nothing of why.
//
// One Engine object serves one thread's part in a transfer; many work on the same transfer at once. Engines never throw
// for what happens to bytes: each task ends in an Outcome. To add one, see docs/add-an-engine.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cache_picture.hpp"
#include "gpu/cufile.hpp"
#include "gpu/pointer.hpp"
#include "waybill/plan.hpp"
#include "waybill/route.hpp"

namespace waybill {

// The descriptors of one file, owned elsewhere; -1 where there is none.
struct EngineFile {
    int buffered = -1;
    int random = -1;   // buffered, advised random: reads exactly what is asked, without read-ahead
    int direct = -1;   // O_DIRECT
    std::size_t direct_align = 4096;  // bytes, of offset, size and memory
    CufileHandle cufile = nullptr;
};

// One request's bytes: file range on one side, memory on the other.
struct Work {
    Direction direction = Direction::read;
    EngineFile file;
    std::uint64_t file_offset = 0;
    std::byte* memory = nullptr;           // where the request's first byte goes or comes from
    std::byte* registered_base = nullptr;  // of the cuFile registration that covers it; null: none
    PageCacheUse page_cache = PageCacheUse::use;
    // Reads: where the bytes were before the first was read. Null: not looked at, reads try the cache before they wait.
    std::shared_ptr<const CachePicture> picture;
    bool direct_write = false;
};

// What all of a transfer's work has in common.
struct Lading {
    PointerOwner owner;
    std::vector<CuEvent> after;   // recorded on the callers' streams: copies come after all of them
    bool on_callers_stream = false;  // copy on `stream` itself: a single task behind what is queued there
    CuStream stream = nullptr;
    bool spin = false;               // wait for copies without sleeping
    std::size_t slot_bytes = 0;
    std::uint64_t pinned_limit = 0;
    const CufileApi* cufile = nullptr;
};

struct Failure {
    // nothing_written: a write that took no byte and gave no error.
    enum class Kind { none, system, cuda, cufile, cufile_system, end_of_file, nothing_written, no_memory };
    Kind kind = Kind::none;
    std::int64_t value = 0;  // errno, CUDA status, or the cuFile call's result
    [[nodiscard]] explicit operator bool() const noexcept { return kind != Kind::none; }
};

// A task of one piece of work.
struct Assignment {
    const Work* work = nullptr;
    Task task;
};

struct Outcome {
    Assignment assignment;
    std::uint64_t moved_bytes = 0;  // the good prefix of the task
    std::uint64_t calls = 0;
    std::uint64_t cached_bytes = 0;   // reads: found in the page cache
    std::uint64_t device_bytes = 0;   // reads: brought from storage
    std::uint64_t unknown_bytes = 0;
    std::uint64_t direct_bytes = 0;   // moved through O_DIRECT, in either direction
    bool estimated = false;
    bool direct_refused = false;  // O_DIRECT was refused for a range, which then went through the page cache
    Failure failure;
};

struct ThreadTimes {
    std::uint64_t read_ns = 0;  // in file calls (reads or writes)
    std::uint64_t copy_ns = 0;  // in copy calls
    std::uint64_t wait_ns = 0;  // for copies, slots and events
};

class Engine {
public:
    virtual ~Engine() = default;
    // Starts these tasks; may finish earlier ones first.
    virtual void submit(std::span<const Assignment> assignments) = 0;
    // Appends the outcomes of finished tasks; with `all`, waits for every task that was submitted.
    virtual void reap(std::vector<Outcome>& finished, bool all) = 0;
    [[nodiscard]] virtual ThreadTimes times() const = 0;
};

// The engine of this kind, for the calling thread, whose current context is the owner's.
[[nodiscard]] std::unique_ptr<Engine> make_engine(EngineKind kind, Direction direction, const Lading& lading);

}  // namespace waybill
