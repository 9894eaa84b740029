#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "gpu/cuda.hpp"
#include "io/transfer.hpp"

namespace waybill {
namespace {

ErrorCode code_of_errno(std::int64_t number) noexcept {
    switch (number) {
        case EFAULT: return ErrorCode::bad_pointer;
        case ENOSPC:
        case EDQUOT: return ErrorCode::disk_full;
        default: return ErrorCode::io_error;
    }
}

std::string_view advice(ErrorCode code, std::int64_t number) noexcept {
    if (number == EFBIG) {
        return ": the file would be larger than this process (ulimit -f) or its file system allows";
    }
    switch (code) {
        case ErrorCode::bad_pointer:
            return "; the address is not memory of this process (freed, or of a GPU that it cannot use)";
        case ErrorCode::disk_full: return "; free space or write less";
        default: return "";
    }
}

}  // namespace

Error error_of(const Outcome& outcome, const std::string& name, Direction direction) {
    const std::uint64_t offset = outcome.assignment.work->file_offset + outcome.assignment.task.offset + outcome.moved_bytes;
    const std::string what = fmt::format("{} '{}' at offset {}", direction == Direction::read ? "reading" : "writing", name, offset);
    const Failure& failure = outcome.failure;
    switch (failure.kind) {
        case Failure::Kind::end_of_file: {
            struct stat state {};
            const bool promises = ::fstat(outcome.assignment.work->file.buffered, &state) == 0 &&
                                  static_cast<std::uint64_t>(state.st_size) > offset;
            return Error(ErrorCode::file_truncated,
                         promises ? what + fmt::format(": the file ends there though its size is given as {} bytes, "
                                                       "as of files of /sys; copy it to a plain file first", state.st_size)
                                  : what + ": the file ended earlier than its size when the request began; it was truncated meanwhile");
        }
        case Failure::Kind::cuda:
            return Error(ErrorCode::cuda_error, what + ": a copy failed", native_cuda(static_cast<CuStatus>(failure.value)));
        case Failure::Kind::nothing_written:
            return Error(ErrorCode::io_error, what + ": the write took no byte, and no error was given");
        case Failure::Kind::cufile:
            if (failure.value == -1) {
                return Error(ErrorCode::cufile_error, what + ": cuFile failed without a reason (-1 and no errno)");
            }
            return Error(ErrorCode::cufile_error,
                         what + ": cuFile failed (" + cufile_code_text(static_cast<int>(-failure.value)) + ")",
                         native_cufile_result(failure.value));
        case Failure::Kind::cufile_system: {
            // EFAULT is no word on the caller's memory: a regression of nvidia-fs 2.25.6 fails every read with it.
            const int number = static_cast<int>(failure.value);
            const ErrorCode code = number == EFAULT ? ErrorCode::cufile_error : code_of_errno(number);
            return Error(code, what + fmt::format(": {} failed", direction == Direction::read ? "cuFileRead" : "cuFileWrite") +
                                   std::string(advice(code, number)), native_errno(number));
        }
        case Failure::Kind::no_memory: return Error(ErrorCode::out_of_memory, what + ": no memory for a slot; set bounce_buffer_size lower or free memory");
        case Failure::Kind::system:
        case Failure::Kind::none: break;
    }
    if (failure.value == EFAULT && cuda_lost_by_fork()) {
        return Error(ErrorCode::fork_after_cuda,
                     what + ": the address is no host memory, and this process was forked from one that had initialised CUDA; "
                            "start workers with the method 'spawn' or 'forkserver'");
    }
    const ErrorCode code = code_of_errno(failure.value);
    return Error(code, what + advice(code, failure.value).data(), native_errno(static_cast<int>(failure.value)));
}

}  // namespace waybill
