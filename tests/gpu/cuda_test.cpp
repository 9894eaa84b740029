// Finding the driver library and what a fork does to it. Each test is a process of its own: the library is found once.
#include "gpu/cuda.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "child.hpp"
#include "gpu/devices.hpp"
#include "gpu/pointer.hpp"

namespace waybill {
namespace {

// What a program does without Waybill.
template <class Function>
Function call(const char* name) {
    return reinterpret_cast<Function>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), name));
}
void* allocate() {
    call<int (*)(unsigned)>("cuInit")(0);
    void* context = nullptr;
    call<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0);
    call<int (*)(void*)>("cuCtxPushCurrent_v2")(context);
    unsigned long long pointer = 0;
    call<int (*)(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&pointer, 4096);
    return reinterpret_cast<void*>(pointer);
}

ErrorCode code_of_cuda() {
    try {
        (void)cuda();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::internal;
}

TEST(FirstUse, BySeveralThreadsAtOnceFindsTheGpuInAll) {
    int wrong = 0;
    for (int k = 0; k < 150; ++k) {
        wrong += in_child([] {
                     void* const pointer = allocate();
                     std::atomic<int> ready{0};
                     std::atomic<int> host{0};
                     std::vector<std::thread> threads;
                     for (int t = 0; t < 4; ++t) {
                         threads.emplace_back([&] {
                             ++ready;
                             while (ready < 4) {
                             }
                             host += find_owner(pointer).on_gpu() ? 0 : 1;
                         });
                     }
                     for (std::thread& thread : threads) {
                         thread.join();
                     }
                     return host.load();
                 }) != 0
                     ? 1
                     : 0;
    }
    EXPECT_EQ(wrong, 0);
}

TEST(Fork, AfterAnotherLibraryInitialisedCudaIsTold) {
    EXPECT_EQ(in_child([] {
                  (void)allocate();
                  return in_child([] { return cuda_lost_by_fork() && code_of_cuda() == ErrorCode::fork_after_cuda ? 7 : 1; });
              }), 7);
}

TEST(Fork, BeforeCudaIsInitialisedTheChildMayUseIt) {
    EXPECT_EQ(in_child([] {
                  (void)call<void*>("cuInit");  // loaded, and no more
                  return in_child([] {
                      return !cuda_lost_by_fork() && cuda_if_loaded() != nullptr && find_owner(allocate()).on_gpu() ? 7 : 1;
                  });
              }), 7);
}

// Longer than a fork waits for it (ForkHold).
TEST(Fork, WhileCudaIsBeingInitialisedTheChildIsToldAndDoesNotHang) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUDA_INIT_DELAY_MS", "2500", 1);
                  std::thread first([] { (void)gpu_device(0); });
                  std::this_thread::sleep_for(std::chrono::milliseconds(300));
                  const int status = in_child([] {
                      try {
                          (void)gpu_device(0);
                      } catch (const Error& error) {
                          return error.code() == ErrorCode::fork_after_cuda ? 7 : 1;
                      }
                      return 2;
                  }, std::chrono::seconds(8));
                  first.join();
                  return status;
              }), 7);
}

TEST(Fork, IsToldWhereOnlyTheDriverKnowsOfIt) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUDA_FAIL", "cuInit:3", 1);
                  return code_of_cuda() == ErrorCode::fork_after_cuda ? 7 : 1;
              }), 7);
}

}  // namespace
}  // namespace waybill
