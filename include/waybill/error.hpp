// Errors: what every function of Waybill throws.
//
// One exception type, told apart by code(). what() is a whole message for a person: what was wrong, where, and what would
// be right. An Error is a value: copy it, keep it, share it between threads.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace waybill {

struct Receipt;

// What went wrong. The text form is the same word with hyphens (`file-not-found`); see to_text(ErrorCode).
enum class ErrorCode {
    invalid_argument,       // an argument that no machine could serve
    bad_setting,            // a setting's value, from a call, a variable or a file
    file_not_found,
    is_directory,
    not_regular_file,
    permission_denied,
    read_only_file,         // a write to a file that was opened for reading
    file_closed,            // the file was closed before or during the request
    offset_past_end,
    file_truncated,         // the end of the file came earlier than its size at the start of the request
    io_error,
    disk_full,
    destination_too_small,
    null_pointer,
    bad_pointer,            // freed, foreign, or a range that no allocation covers
    read_only_destination,
    not_contiguous,
    route_refused,          // `require` cannot be met: known before the first byte
    route_not_taken,        // `require` was not met: known from the evidence, after the bytes moved
    no_counters,            // `require` asks for a proof and nothing counted
    contradicted,           // a live counter disagrees with the path, and `require` was set
    no_gpu,
    cuda_error,
    cufile_error,
    cufile_unavailable,     // compat_mode=off, and cuFile cannot serve this file
    capturing_stream,       // the stream is being captured into a graph
    out_of_memory,          // host or device memory
    fork_after_cuda,        // GPU work in a child process whose parent had initialised CUDA
    timeout,
    cancelled,
    interrupted,
    internal,
};

// `file-not-found` for ErrorCode::file_not_found.
[[nodiscard]] std::string_view to_text(ErrorCode code) noexcept;

// The exit code of the command line for this error: 2 usage or setting, 3 file or data, 4 required path not taken,
// 5 GPU, driver or cuFile, 6 time-out, 7 internal, 130 interrupted; 1 is a truthful no (contradicted).
[[nodiscard]] int exit_code(ErrorCode code) noexcept;

// The code that a lower layer gave, with its name: {system, 5, "EIO"}, {cuda, 2, "CUDA_ERROR_OUT_OF_MEMORY"}.
struct NativeCode {
    enum class Layer { none, system, cuda, cufile };
    Layer layer = Layer::none;
    std::int64_t value = 0;
    std::string name;
};

// none, system, cuda, cufile.
[[nodiscard]] std::string_view to_text(NativeCode::Layer layer) noexcept;

// The one exception. Copying it costs a few strings; the receipt is shared.
class Error final : public std::exception {
public:
    // `text` is the whole sentence, with what to do.
    Error(ErrorCode code, std::string text);
    Error(ErrorCode code, std::string text, NativeCode native);

    // The whole message: the sentence, and the native code where there is one.
    [[nodiscard]] const char* what() const noexcept override;
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    [[nodiscard]] const NativeCode& native() const noexcept { return native_; }

    // The same error with more to say: `text` follows the sentence, before the native code.
    [[nodiscard]] Error with_advice(const std::string& text) const;

    // What had moved when it failed (Receipt::good lists the good ranges); null when no transfer had begun.
    [[nodiscard]] const std::shared_ptr<const Receipt>& receipt() const noexcept { return receipt_; }
    [[nodiscard]] Error with_receipt(std::shared_ptr<const Receipt> receipt) const;

private:
    ErrorCode code_;
    std::string sentence_;
    NativeCode native_;
    std::string text_;  // the sentence and the native code
    std::shared_ptr<const Receipt> receipt_;
};

}  // namespace waybill
