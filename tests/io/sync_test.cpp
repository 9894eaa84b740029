// An fsync that fails after a write that did not.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "random_bytes.hpp"
#include "waybill/waybill.hpp"

namespace {

std::atomic<int> fsync_errno{0};

}  // namespace

extern "C" int __real_fsync(int fd);
extern "C" int __wrap_fsync(int fd) {
    if (const int problem = fsync_errno; problem != 0) {
        errno = problem;
        return -1;
    }
    return __real_fsync(fd);
}

namespace waybill {
namespace {

class FailedSync : public ::testing::TestWithParam<bool> {
protected:
    FailedSync() : bytes_(random_bytes(700'000, 3)) {
        char name[] = "/tmp/waybill_sync_XXXXXX";
        ::close(::mkstemp(name));
        path_ = name;
        memory_ = GetParam() ? Buffer::on_gpu(0, bytes_.size()) : Buffer::on_host(bytes_.size());
        memory_.copy_from_host(bytes_.data(), 0, bytes_.size());
        request_.target = {memory_.data(), bytes_.size(), {}, true};
        request_.sync = true;
    }
    ~FailedSync() override {
        fsync_errno = 0;
        ::unlink(path_.c_str());
    }
    [[nodiscard]] Error error_of(const Request& request) const {
        const File file = File::open(path_, Mode::read_write);
        try {
            (void)file.write(request);
        } catch (const Error& error) {
            return error;
        }
        ADD_FAILURE() << "no error";
        return Error(ErrorCode::internal, "");
    }
    std::vector<std::byte> bytes_;
    std::string path_;
    Buffer memory_;
    Request request_;
};

TEST_P(FailedSync, IsAnErrorWhoseReceiptTellsThatAllBytesWereAccepted) {
    fsync_errno = EIO;
    const Error error = error_of(request_);
    EXPECT_EQ(error.code(), ErrorCode::io_error);
    EXPECT_EQ(error.native().name, "EIO");
    EXPECT_NE(std::string(error.what()).find("accepted, but not made durable"), std::string::npos) << error.what();
    ASSERT_TRUE(error.receipt());
    const Receipt& receipt = *error.receipt();
    EXPECT_EQ(receipt.asked_bytes, bytes_.size());
    EXPECT_EQ(receipt.moved_bytes, bytes_.size());
    EXPECT_FALSE(receipt.is_short);
    EXPECT_EQ(receipt.short_reason, "");
    EXPECT_EQ(receipt.good, (std::vector<ByteRange>{{0, bytes_.size()}}));
    ASSERT_EQ(receipt.notes.size(), 1U);
    EXPECT_NE(receipt.notes[0].find("not made durable: fsync failed (EIO)"), std::string::npos);
    EXPECT_EQ(to_text(receipt).find("SHORT"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(path_), bytes_.size());
}

TEST_P(FailedSync, ForWantOfSpaceIsAFullDisk) {
    fsync_errno = ENOSPC;
    const Error error = error_of(request_);
    EXPECT_EQ(error.code(), ErrorCode::disk_full);
    EXPECT_FALSE(error.receipt()->is_short);
}

TEST_P(FailedSync, IsNotAskedForByAWriteWithoutIt) {
    fsync_errno = EIO;
    request_.sync = false;
    const File file = File::open(path_, Mode::read_write);
    EXPECT_TRUE(file.write(request_).notes.empty());
    EXPECT_THROW(file.sync(), Error);
}

INSTANTIATE_TEST_SUITE_P(From, FailedSync, ::testing::Bool(), [](const auto& gpu) { return gpu.param ? "Gpu" : "Host"; });

}  // namespace
}  // namespace waybill
