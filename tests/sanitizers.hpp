// What gcc's and clang's sanitizers cannot do, for tests that must know.
#pragma once

namespace waybill {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WAYBILL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WAYBILL_SANITIZED 1
#endif
#endif

// What is proved, for the runtimes of gcc 12.2 and by a program of nothing but threads that allocate, and forks: some children
// wait for ever in an allocation, on a lock that another thread of the parent held (stacks of hung children by gdb). Under the
// address sanitizer in SizeClassAllocator64::GetFromAllocator (2 of 75 children), under the thread sanitizer in
// DenseSlabAlloc::Refill, where it notes the new block (2 of 25). That is all: tests that skip here say nothing of Waybill's own
// locks under a sanitizer, and nothing is known of other runtimes. Without a sanitizer these tests run.
#ifdef WAYBILL_SANITIZED
inline constexpr bool kChildrenMayAllocate = false;
inline constexpr bool kSlowedDown = true;
#undef WAYBILL_SANITIZED
#else
inline constexpr bool kChildrenMayAllocate = true;
inline constexpr bool kSlowedDown = false;
#endif
inline constexpr const char* kWhyChildrenMayNotAllocate =
    "the sanitizer's allocator stays locked in a child that was forked while another thread allocated";

}  // namespace waybill
