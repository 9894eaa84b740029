#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

int interruptions = 0;  // of the next calls of open

}  // namespace

extern "C" int __real_open(const char* path, int flags, ...);
extern "C" int __wrap_open(const char* path, int flags, unsigned permissions) {
    if (interruptions > 0) {
        --interruptions;
        errno = EINTR;
        return -1;
    }
    return __real_open(path, flags, permissions);
}

namespace waybill {
namespace {

TEST(OpenDescriptor, GoesOnAfterASignal) {
    interruptions = 3;
    const Fd file = open_descriptor("/dev/null", O_RDWR);
    EXPECT_EQ(interruptions, 0);
    ASSERT_TRUE(file);
    EXPECT_EQ(::fcntl(file.get(), F_GETFD), FD_CLOEXEC);
    interruptions = 2;
    EXPECT_TRUE(reopen(file.get(), O_RDONLY));
    EXPECT_FALSE(open_descriptor("/nowhere/x", O_RDONLY));
    EXPECT_EQ(errno, ENOENT);
}

TEST(Fd, ClosesOnceAndMoves) {
    Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int number = first.get();
    Fd second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), number);
    second.reset();
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
    EXPECT_EQ(errno, EBADF);
}

TEST(Reopen, GivesTheSameFileAndNeverTruncates) {
    char name[] = "/tmp/waybill_reopen_XXXXXX";
    const Fd file(::mkstemp(name));
    ASSERT_EQ(::write(file.get(), "abc", 3), 3);
    const Fd again = reopen(file.get(), O_RDWR | O_TRUNC | O_CREAT);
    ASSERT_TRUE(again);
    EXPECT_EQ(::lseek(again.get(), 0, SEEK_END), 3);
    ::unlink(name);
    // An unlinked file can still be opened by its descriptor.
    EXPECT_TRUE(reopen(file.get(), O_RDONLY));
}

TEST(ErrnoName, NamesCodes) {
    EXPECT_EQ(errno_name(EIO), "EIO");
    EXPECT_EQ(errno_name(987654), "987654");
}

}  // namespace
}  // namespace waybill
