// EndedWatch: asks the interpreter for a sweep of orphans as soon as one of them has ended (kept_future.hpp).
//
// A thread of its own waits for their event descriptors, and touches nothing of Python's but the queue of pending calls, which
// any thread may add to without the GIL. The main thread of the interpreter then sweeps, between two of its instructions.
#pragma once

// The functions are called under the GIL.
namespace ended_watch {

// Watches a request's event descriptor until it is readable. Where that cannot be had, later calls of the package sweep.
void add(int event_descriptor) noexcept;
// The interpreter ends: asks for nothing more.
void end() noexcept;

}  // namespace ended_watch
