// Small reads of a file that is truncated while they are under way: one rule, however few bytes and whichever path.
#include "io/truncation.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tuple>

#include "random_bytes.hpp"
#include "waybill/waybill.hpp"

namespace {

enum class When { before, after };  // a call that reads the file

struct Truncation {
    ino_t inode = 0;
    off_t to = 0;
    When when = When::before;
    int writable = -1;
};
Truncation truncation;  // while `inode` is not 0; once

void truncate_if(When when, int fd) {
    struct stat state {};
    if (truncation.inode != 0 && truncation.when == when && ::fstat(fd, &state) == 0 && state.st_ino == truncation.inode) {
        truncation.inode = 0;
        EXPECT_EQ(::ftruncate(truncation.writable, truncation.to), 0);
    }
}

}  // namespace

extern "C" ssize_t __real_pread(int fd, void* to, size_t size, off_t offset);
extern "C" ssize_t __wrap_pread(int fd, void* to, size_t size, off_t offset) {
    truncate_if(When::before, fd);
    const ssize_t count = __real_pread(fd, to, size, offset);
    truncate_if(When::after, fd);
    return count;
}
extern "C" ssize_t __real_preadv2(int fd, const iovec* parts, int count, off_t offset, int flags);
extern "C" ssize_t __wrap_preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    truncate_if(When::before, fd);
    const ssize_t bytes = __real_preadv2(fd, parts, count, offset, flags);
    const int problem = errno;
    truncate_if(When::after, fd);
    errno = problem;
    return bytes;
}

namespace waybill {
namespace {

constexpr std::uint64_t kFileBytes = 200'000;
constexpr std::uint64_t kOffset = 1000;

// To a GPU, how the page cache is used, bytes of the read, when.
using Way = std::tuple<bool, const char*, std::uint64_t, When>;

class SmallReads : public ::testing::TestWithParam<Way> {
protected:
    SmallReads() : bytes_(random_bytes(kFileBytes, 4)) {
        char name[] = "/tmp/waybill_small_XXXXXX";
        fd_ = ::mkstemp(name);
        path_ = name;
        EXPECT_EQ(::write(fd_, bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
        EXPECT_EQ(::fsync(fd_), 0);
    }
    ~SmallReads() override {
        truncation = {};
        ::close(fd_);
        ::unlink(path_.c_str());
    }
    void arm(std::uint64_t to) const {
        struct stat state {};
        EXPECT_EQ(::fstat(fd_, &state), 0);
        truncation = {state.st_ino, static_cast<off_t>(to), std::get<3>(GetParam()), fd_};
    }
    std::vector<std::byte> bytes_;
    int fd_ = -1;
    std::string path_;
};

TEST_P(SmallReads, ThatATruncationOvertakesTellTheGoodRange) {
    const auto& [to_gpu, page_cache, size, when] = GetParam();
    for (const std::uint64_t left : {size / 2, std::uint64_t{0}, size - 1}) {
        EXPECT_EQ(::pwrite(fd_, bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size()));
        const File file = File::open(path_, Mode::read, {{{"page_cache", page_cache}}, {}});
        const Buffer buffer = to_gpu ? Buffer::on_gpu(0, size) : Buffer::on_host(size);
        Request request;
        request.file_offset = kOffset;
        request.size_bytes = size;
        request.target = {buffer.data(), size, {}, false};
        arm(kOffset + left);
        try {
            (void)file.read(request);
            FAIL() << "no error, with " << left << " bytes left";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::file_truncated);
            ASSERT_TRUE(error.receipt());
            const Receipt& receipt = *error.receipt();
            EXPECT_EQ(receipt.moved_bytes, left);
            EXPECT_TRUE(receipt.is_short);
            EXPECT_EQ(receipt.short_reason, "file-truncated");
            EXPECT_EQ(receipt.good, left == 0 ? std::vector<ByteRange>{} : (std::vector<ByteRange>{{0, left}}));
            std::vector<std::byte> back(size);
            buffer.copy_to_host(back.data(), 0, size);
            EXPECT_EQ(std::memcmp(back.data(), bytes_.data() + kOffset, left), 0);
        }
        EXPECT_EQ(truncation.inode, 0U) << "nothing was read";
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, SmallReads,
                         ::testing::Combine(::testing::Bool(), ::testing::Values("use", "bypass", "direct"),
                                            ::testing::Values(100, 4096, 60'000), ::testing::Values(When::before, When::after)));

}  // namespace
}  // namespace waybill
