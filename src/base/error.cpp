#include "waybill/error.hpp"

#include <iterator>

namespace waybill {
namespace {

struct Row {
    ErrorCode code;
    std::string_view text;
    int exit_code;
};

constexpr Row kRows[] = {
    {ErrorCode::invalid_argument, "invalid-argument", 2},
    {ErrorCode::bad_setting, "bad-setting", 2},
    {ErrorCode::file_not_found, "file-not-found", 3},
    {ErrorCode::is_directory, "is-directory", 3},
    {ErrorCode::not_regular_file, "not-regular-file", 3},
    {ErrorCode::permission_denied, "permission-denied", 3},
    {ErrorCode::read_only_file, "read-only-file", 3},
    {ErrorCode::file_closed, "file-closed", 3},
    {ErrorCode::offset_past_end, "offset-past-end", 3},
    {ErrorCode::file_truncated, "file-truncated", 3},
    {ErrorCode::io_error, "io-error", 3},
    {ErrorCode::disk_full, "disk-full", 3},
    {ErrorCode::destination_too_small, "destination-too-small", 2},
    {ErrorCode::null_pointer, "null-pointer", 2},
    {ErrorCode::bad_pointer, "bad-pointer", 2},
    {ErrorCode::read_only_destination, "read-only-destination", 2},
    {ErrorCode::not_contiguous, "not-contiguous", 2},
    {ErrorCode::route_refused, "route-refused", 4},
    {ErrorCode::route_not_taken, "route-not-taken", 4},
    {ErrorCode::no_counters, "no-counters", 4},
    {ErrorCode::contradicted, "contradicted", 1},
    {ErrorCode::no_gpu, "no-gpu", 5},
    {ErrorCode::cuda_error, "cuda-error", 5},
    {ErrorCode::cufile_error, "cufile-error", 5},
    {ErrorCode::cufile_unavailable, "cufile-unavailable", 5},
    {ErrorCode::capturing_stream, "capturing-stream", 5},
    {ErrorCode::out_of_memory, "out-of-memory", 5},
    {ErrorCode::fork_after_cuda, "fork-after-cuda", 5},
    {ErrorCode::timeout, "timeout", 6},
    {ErrorCode::cancelled, "cancelled", 130},
    {ErrorCode::interrupted, "interrupted", 130},
    {ErrorCode::internal, "internal", 7},
};

const Row& row_of(ErrorCode code) noexcept {
    for (const Row& row : kRows) {
        if (row.code == code) {
            return row;
        }
    }
    return *std::prev(std::end(kRows));
}

}  // namespace

std::string_view to_text(ErrorCode code) noexcept {
    return row_of(code).text;
}

int exit_code(ErrorCode code) noexcept {
    return row_of(code).exit_code;
}

std::string_view to_text(NativeCode::Layer layer) noexcept {
    switch (layer) {
        case NativeCode::Layer::system: return "system";
        case NativeCode::Layer::cuda: return "cuda";
        case NativeCode::Layer::cufile: return "cufile";
        case NativeCode::Layer::none: break;
    }
    return "none";
}

Error::Error(ErrorCode code, std::string text) : Error(code, std::move(text), NativeCode{}) {}

Error::Error(ErrorCode code, std::string text, NativeCode native)
    : code_(code), sentence_(std::move(text)), native_(std::move(native)), text_(sentence_) {
    if (native_.layer != NativeCode::Layer::none) {
        text_ += " [" + native_.name + " " + std::to_string(native_.value) + "]";
    }
}

Error Error::with_advice(const std::string& text) const {
    Error copy(code_, sentence_ + "; " + text, native_);
    copy.receipt_ = receipt_;
    return copy;
}

const char* Error::what() const noexcept {
    return text_.c_str();
}

Error Error::with_receipt(std::shared_ptr<const Receipt> receipt) const {
    Error copy = *this;
    copy.receipt_ = std::move(receipt);
    return copy;
}

}  // namespace waybill
