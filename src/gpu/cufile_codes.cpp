#include <array>
#include <string_view>

#include "gpu/cuda.hpp"
#include "gpu/cufile.hpp"

namespace waybill {
namespace {

struct Row {
    int code;
    std::string_view name;
    std::string_view cause;
};

constexpr std::array kRows{
    Row{5001, "DRIVER_NOT_INITIALIZED", "the driver could not be opened (compatibility mode may be forbidden)"},
    Row{5002, "DRIVER_INVALID_PROPS", ""},
    Row{5003, "DRIVER_UNSUPPORTED_LIMIT", ""},
    Row{5004, "DRIVER_VERSION_MISMATCH", "nvidia-fs and libcufile do not fit together"},
    Row{5005, "DRIVER_VERSION_READ_ERROR", ""},
    Row{5006, "DRIVER_CLOSING", ""},
    Row{5007, "PLATFORM_NOT_SUPPORTED", ""},
    Row{5008, "IO_NOT_SUPPORTED", "the file system is one that this version does not serve"},
    Row{5009, "DEVICE_NOT_SUPPORTED", "this GPU is not one that cuFile serves"},
    Row{5010, "NVFS_DRIVER_ERROR", "nvidia-fs refused"},
    Row{5011, "CUDA_DRIVER_ERROR", ""},
    Row{5012, "CUDA_POINTER_INVALID", ""},
    Row{5013, "CUDA_MEMORY_TYPE_INVALID", ""},
    Row{5014, "CUDA_POINTER_RANGE_ERROR", ""},
    Row{5015, "CUDA_CONTEXT_MISMATCH", ""},
    Row{5016, "INVALID_MAPPING_SIZE", ""},
    Row{5017, "INVALID_MAPPING_RANGE", ""},
    Row{5018, "INVALID_FILE_TYPE", ""},
    Row{5019, "INVALID_FILE_OPEN_FLAG", ""},
    Row{5020, "DIO_NOT_SET", "the descriptor was opened without O_DIRECT"},
    Row{5022, "INVALID_VALUE", ""},
    Row{5023, "MEMORY_ALREADY_REGISTERED", ""},
    Row{5024, "MEMORY_NOT_REGISTERED", ""},
    Row{5025, "PERMISSION_DENIED", ""},
    Row{5026, "DRIVER_ALREADY_OPEN", ""},
    Row{5027, "HANDLE_NOT_REGISTERED", "cuFile could not identify the file's block device (udev record, file system)"},
    Row{5028, "HANDLE_ALREADY_REGISTERED", ""},
    Row{5029, "DEVICE_NOT_FOUND", ""},
    Row{5030, "INTERNAL_ERROR", "often a missing udev property ID_FS_USAGE; cufile.log says more"},
    Row{5031, "GETNEWFD_FAILED", ""},
    Row{5033, "NVFS_SETUP_ERROR", ""},
    Row{5034, "IO_DISABLED", ""},
    Row{5035, "BATCH_SUBMIT_FAILED", ""},
    Row{5036, "GPU_MEMORY_PINNING_FAILED", "the GPU's BAR space may be used up"},
    Row{5037, "BATCH_FULL", ""},
    Row{5038, "ASYNC_NOT_SUPPORTED", ""},
    Row{5039, "INTERNAL_BATCH_SETUP_ERROR", ""},
    Row{5040, "INTERNAL_BATCH_SUBMIT_ERROR", ""},
    Row{5041, "INTERNAL_BATCH_GETSTATUS_ERROR", ""},
    Row{5042, "INTERNAL_BATCH_CANCEL_ERROR", ""},
    Row{5043, "NOMEM_ERROR", ""},
    Row{5044, "IO_ERROR", ""},
    Row{5045, "INTERNAL_BUF_REGISTER_ERROR", ""},
    Row{5046, "HASH_OPR_ERROR", ""},
    Row{5047, "INVALID_CONTEXT_ERROR", ""},
    Row{5048, "NVFS_INTERNAL_DRIVER_ERROR", ""},
    Row{5049, "BATCH_NOCOMPAT_ERROR", ""},
    Row{5050, "IO_MAX_ERROR", ""},
    Row{6001, "RDMA_RESET_TOKEN", ""},
    Row{6002, "RDMA_RESET_TOKEN_FAILED", ""},
};

const Row* find(int code) noexcept {
    for (const Row& row : kRows) {
        if (row.code == code) {
            return &row;
        }
    }
    return nullptr;
}

NativeCode named(int code) {
    const Row* row = find(code);
    return {NativeCode::Layer::cufile, code, row != nullptr ? "CU_FILE_" + std::string(row->name) : "CU_FILE_UNKNOWN"};
}

}  // namespace

NativeCode native_cufile(CufileStatus status) {
    return status.code == kCufileCudaError ? native_cuda(status.cuda) : named(status.code);
}

std::string cufile_code_text(int code) {
    const Row* row = find(code);
    if (row == nullptr) {
        return "cuFile code " + std::to_string(code);
    }
    std::string text(row->name);
    if (!row->cause.empty()) {
        text += ": " + std::string(row->cause);
    }
    return text;
}

void check_cufile(CufileStatus status, const char* call) {
    if (status.code != kCufileSuccess) {
        throw Error(ErrorCode::cufile_error, std::string(call) + " failed: " + cufile_code_text(status.code), native_cufile(status));
    }
}

NativeCode native_cufile_result(ssize_t result) {
    return named(static_cast<int>(-result));
}

}  // namespace waybill
