// The stand-in of NVIDIA's libcufile: it moves real bytes with system calls and claims the path that FAKE_CUFILE_PATH names.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

struct Status {
    int code = 0;
    int cuda = 0;
};

// ---- switches.cpp
std::uint64_t number_of(const char* variable, std::uint64_t otherwise);
bool is_set(const char* variable);
// FAKE_CUFILE_NAME=code[:after]: the code once `after` calls have gone well, else 0.
int fault_of(const char* variable);
// True at each n-th call, by FAKE_CUFILE_NAME=n.
bool every_nth(const char* variable);
// A success, whose CUDA part is rubbish where FAKE_CUFILE_BAD_CU_ERR is set.
Status success();

// ---- statistics.cpp
enum class Way { nvfs, p2pdma, posix };
Way way();
void count(bool read, int device, std::uint64_t bytes, bool unaligned, bool failed);

}  // namespace fake
