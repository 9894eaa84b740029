// The errors that failed tasks stand for.
#include <gtest/gtest.h>

#include <cerrno>

#include "io/transfer.hpp"

namespace waybill {
namespace {

Error error_by(Failure failure, Direction direction) {
    Work work;
    work.file_offset = 1000;
    Outcome outcome;
    outcome.assignment = {&work, {500, 100}};
    outcome.moved_bytes = 7;
    outcome.failure = failure;
    return error_of(outcome, "/data/x", direction);
}

TEST(TransferError, NamesTheFileTheOffsetAndTheCode) {
    const Error error = error_by({Failure::Kind::system, EIO}, Direction::read);
    EXPECT_EQ(error.code(), ErrorCode::io_error);
    EXPECT_STREQ(error.what(), "reading '/data/x' at offset 1507 [EIO 5]");
    EXPECT_EQ(error_by({Failure::Kind::cufile, -5030}, Direction::read).native().name, "CU_FILE_INTERNAL_ERROR");
}

TEST(TransferError, OfACufileThatGivesNoReasonNamesNone) {
    const Error error = error_by({Failure::Kind::cufile, -1}, Direction::read);
    EXPECT_EQ(error.code(), ErrorCode::cufile_error);
    EXPECT_STREQ(error.what(), "reading '/data/x' at offset 1507: cuFile failed without a reason (-1 and no errno)");
    EXPECT_EQ(error.native().layer, NativeCode::Layer::none);
}

TEST(TransferError, OfACallOfCufileThatSetErrnoNamesTheCall) {
    const Error bad_address = error_by({Failure::Kind::cufile_system, EFAULT}, Direction::read);
    EXPECT_EQ(bad_address.code(), ErrorCode::cufile_error);
    EXPECT_STREQ(bad_address.what(), "reading '/data/x' at offset 1507: cuFileRead failed [EFAULT 14]");
    EXPECT_EQ(error_by({Failure::Kind::cufile_system, EIO}, Direction::read).code(), ErrorCode::io_error);
    const Error full = error_by({Failure::Kind::cufile_system, ENOSPC}, Direction::write);
    EXPECT_EQ(full.code(), ErrorCode::disk_full);
    EXPECT_STREQ(full.what(), "writing '/data/x' at offset 1507: cuFileWrite failed; free space or write less [ENOSPC 28]");
}

TEST(TransferError, OfAWriteThatTookNothingSpeaksOfNoEnd) {
    const Error error = error_by({Failure::Kind::nothing_written, 0}, Direction::write);
    EXPECT_EQ(error.code(), ErrorCode::io_error);
    EXPECT_STREQ(error.what(), "writing '/data/x' at offset 1507: the write took no byte, and no error was given");
}

}  // namespace
}  // namespace waybill
