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

// The runtimes of gcc 12 take none of their allocator's locks around fork: a child that was forked while another thread
// allocated waits for ever in its first allocation (seen with a debugger in a program of nothing but threads, new and fork: the
// child stands in SizeClassAllocator64::GetFromAllocator, in Mutex::Lock).
#ifdef WAYBILL_SANITIZED
inline constexpr bool kChildrenMayAllocate = false;
#undef WAYBILL_SANITIZED
#else
inline constexpr bool kChildrenMayAllocate = true;
#endif
inline constexpr const char* kWhyChildrenMayNotAllocate =
    "the sanitizer's allocator stays locked in a child that was forked while another thread allocated";

}  // namespace waybill
