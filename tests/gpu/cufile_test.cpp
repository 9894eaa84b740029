// Opening cuFile's driver, over the stand-in. Each test is a process of its own: the driver is opened once.
#include "gpu/cufile.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "child.hpp"
#include "gpu/driver_probe.hpp"

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
