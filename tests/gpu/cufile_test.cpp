// Opening cuFile's driver, over the stand-in. Each test is a process of its own: the driver is opened once.
#include "gpu/cufile.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "child.hpp"
#include "gpu/driver_probe.hpp"
#include "no_descriptors.hpp"

namespace {

bool stuck = false;  // children do not end, whatever signal they get

}  // namespace

extern "C" pid_t __real_waitpid(pid_t child, int* status, int options);
extern "C" pid_t __wrap_waitpid(pid_t child, int* status, int options) {
    if (!stuck) {
        return __real_waitpid(child, status, options);
    }
    if ((options & WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
    return 0;
}

namespace waybill {
namespace {

CufileOptions options(bool statistics) {
    CufileOptions options;
    options.library = "libcufile.so.0";
    options.open_timeout_ns = 5'000'000'000;
    options.statistics = statistics;
    return options;
}

TEST(Statistics, AreStartedByTheFirstCallThatWantsThem) {
    EXPECT_EQ(in_child([] {
                  const CufileDriver& driver = cufile_driver(options(false));
                  if (driver.statistics || driver.statistics_problem != nullptr) {
                      return 1;
                  }
                  (void)cufile_driver(options(true));
                  if (!driver.statistics || driver.statistics_problem != nullptr) {
                      return 2;
                  }
                  (void)cufile_driver(options(false));
                  return driver.statistics ? 7 : 3;  // never stopped
              }), 7);
}

TEST(Statistics, ThatALibraryLacksAreToldOnlyWhereTheyWereWanted) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_NO_STATS", "1", 1);
                  const CufileDriver& driver = cufile_driver(options(false));
                  if (driver.statistics_problem != nullptr) {
                      return 1;
                  }
                  (void)cufile_driver(options(true));
                  return !driver.statistics && driver.statistics_problem.load() != nullptr ? 7 : 2;
              }), 7);
}

int code_of_open(const CufileOptions& options) {
    try {
        (void)cufile_driver(options);
    } catch (const Error& error) {
        return error.code() == ErrorCode::cufile_unavailable ? 1 : 2;
    }
    return 0;
}

TEST(DriverOpen, AWrongLibraryOfOneCallSpoilsNoLaterOne) {
    EXPECT_EQ(in_child([] {
                  CufileOptions wrong = options(true);
                  wrong.json = "/nowhere/cufile.json";
                  for (const char* library : {"libnowhere.so.9", "libpthread.so.0", "libnowhere.so.9"}) {
                      wrong.library = library;
                      if (code_of_open(wrong) != 1) {
                          return 1;
                      }
                  }
                  if (::getenv("CUFILE_ENV_PATH_JSON") != nullptr) {
                      return 2;
                  }
                  return code_of_open(options(true)) == 0 && cufile_if_open() != nullptr ? 7 : 3;
              }), 7);
}

TEST(DriverOpen, OneThatFailedIsNotRepeatedWithTheSameOptions) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_ERROR", "5001", 1);
                  if (code_of_open(options(false)) != 1) {
                      return 1;
                  }
                  ::unsetenv("FAKE_CUFILE_OPEN_ERROR");
                  if (code_of_open(options(false)) != 1) {
                      return 2;
                  }
                  CufileOptions patient = options(false);
                  patient.open_timeout_ns *= 2;
                  return code_of_open(patient) == 0 ? 7 : 3;
              }), 7);
}

TEST(DriverOpen, ThatHangsIsTheLast) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  CufileOptions hasty = options(false);
                  hasty.open_timeout_ns = 50'000'000;
                  if (code_of_open(hasty) != 1) {
                      return 1;
                  }
                  ::unsetenv("FAKE_CUFILE_OPEN_HANG");
                  return code_of_open(options(false)) == 1 ? 7 : 2;
              }), 7);
}

ErrorCode error_of_open(const CufileOptions& options) {
    try {
        (void)cufile_driver(options);
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::internal;  // it is open
}

TEST(DriverOpen, IsWaitedForNoLongerThanTheCallerSaysAndGoesOn) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  CufileOptions hasty = options(false);
                  hasty.wait_ns = 50'000'000;
                  const auto start = std::chrono::steady_clock::now();
                  for (int k = 0; k < 2; ++k) {  // the second one waits for what the first one began
                      if (error_of_open(hasty) != ErrorCode::timeout) {
                          return 1;
                      }
                  }
                  if (std::chrono::steady_clock::now() - start > std::chrono::seconds(3)) {
                      return 2;
                  }
                  ::unsetenv("FAKE_CUFILE_OPEN_HANG");
                  return code_of_open(options(false)) == 0 ? 7 : 3;
              }), 7);
}

TEST(DriverOpen, WhoHasOtherOptionsWaitsForTheOneUnderWayAndTriesHisOwn) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  ::setenv("FAKE_CUFILE_OPEN_ERROR", "5001", 1);
                  CufileOptions hasty = options(false);
                  hasty.wait_ns = 50'000'000;
                  if (error_of_open(hasty) != ErrorCode::timeout) {
                      return 1;
                  }
                  std::thread later([] {
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                      ::unsetenv("FAKE_CUFILE_OPEN_HANG");
                  });
                  CufileOptions missing = options(false);
                  missing.library = "libnowhere.so.9";
                  std::string told;
                  try {
                      (void)cufile_driver(missing);
                  } catch (const Error& error) {
                      told = error.what();
                  }
                  later.join();
                  if (told.find("libnowhere.so.9") == std::string::npos) {
                      return 2;
                  }
                  return error_of_open(options(false)) == ErrorCode::cufile_unavailable ? 7 : 3;
              }), 7);
}

// No memory for another thread's stack: new threads are refused.
class NoThreads {
public:
    NoThreads() {
        ::pthread_attr_t huge;
        ::pthread_getattr_default_np(&before_);
        ::pthread_attr_init(&huge);
        ::pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
        ::pthread_setattr_default_np(&huge);
    }
    ~NoThreads() { ::pthread_setattr_default_np(&before_); }

private:
    ::pthread_attr_t before_{};
};

TEST(DriverOpen, WithoutAThreadIsAnErrorOfThatMomentAlone) {
    EXPECT_EQ(in_child([] {
                  {
                      const NoThreads none;
                      if (code_of_open(options(true)) != 1) {
                          return 1;
                      }
                  }
                  return code_of_open(options(true)) == 0 ? 7 : 2;
              }), 7);
}

TEST(DriverOpen, WithoutADescriptorIsAnErrorOfThatMomentAlone) {
    EXPECT_EQ(in_child([] {
                  // The undefined-behaviour sanitizer opens a pipe when it first looks at an object's type: let it do so
                  // while there are descriptors.
                  CufileOptions missing = options(true);
                  missing.library = "libnowhere.so.9";
                  if (code_of_open(missing) != 1) {
                      return 3;
                  }
                  {
                      const NoDescriptors none;
                      if (code_of_open(options(true)) != 2) {
                          return 1;
                      }
                  }
                  return code_of_open(options(true)) == 0 ? 7 : 2;
              }), 7);
}

// exit() runs what closes the driver; std::terminate would be a signal.
TEST(DriverClose, AtExitNeedsNoThread) {
    EXPECT_EQ(in_child([] {
                  (void)cufile_driver(options(false));
                  alignas(NoThreads) static std::byte kept[sizeof(NoThreads)];
                  new (kept) NoThreads;  // never destroyed: still there when the driver is closed
                  std::exit(7);
                  return 1;
              }), 7);
}

TEST(DriverOpen, LeavesSignalsToTheProgramsThreads) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  std::thread opening([] {
                      CufileOptions hasty = options(false);
                      hasty.open_timeout_ns = 500'000'000;
                      (void)code_of_open(hasty);
                  });
                  std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  int threads_that_serve = 0;
                  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
                      std::ifstream status(task.path() / "status");
                      for (std::string line; std::getline(status, line);) {
                          if (line.starts_with("SigBlk:")) {
                              threads_that_serve += (std::stoull(line.substr(7), nullptr, 16) >> (SIGUSR1 - 1) & 1) == 0 ? 1 : 0;
                          }
                      }
                  }
                  opening.join();
                  return threads_that_serve <= 2 ? 7 : threads_that_serve;
              }), 7);
}

TEST(CheckCufile, NamesTheCallAndTheCode) {
    EXPECT_NO_THROW(check_cufile({kCufileSuccess, 999}, "cuFileBufRegister"));
    try {
        check_cufile({5027, 0}, "cuFileHandleRegister");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cufile_error);
        EXPECT_EQ(error.native().name, "CU_FILE_HANDLE_NOT_REGISTERED");
        EXPECT_NE(std::string(error.what()).find("cuFileHandleRegister failed"), std::string::npos) << error.what();
    }
}

TEST(DriverProbe, LeavesAChildThatIsStuckInTheKernel) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  stuck = true;
                  const auto start = std::chrono::steady_clock::now();
                  const DriverProbe probe = probe_driver("libcufile.so.0", 100'000'000);
                  const bool soon = std::chrono::steady_clock::now() - start < std::chrono::seconds(8);
                  return soon && !probe.opened && probe.text.find("stuck in the kernel") != std::string::npos ? 7 : 1;
              }), 7);
}

TEST(DriverProbe, EndsAChildThatHangs) {
    EXPECT_EQ(in_child([] {
                  ::setenv("FAKE_CUFILE_OPEN_HANG", "1", 1);
                  const DriverProbe probe = probe_driver("libcufile.so.0", 100'000'000);
                  return !probe.opened && probe.text == "did not return within 100 ms (driver_timeout)" ? 7 : 1;
              }), 7);
}

}  // namespace
}  // namespace waybill
