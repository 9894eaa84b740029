#include <algorithm>
#include <array>

#include "settings/cufile_keys.hpp"

namespace waybill {
namespace {

// By the exact names in each version's library.
constexpr std::array kVariables{
    CufileVariable{"CUFILE_ENV_PATH_JSON"},
    CufileVariable{"CUFILE_LOGFILE_PATH"},
    CufileVariable{"CUFILE_LOGGING_LEVEL", 0, 0, "logging.level"},
    CufileVariable{"CUFILE_LOGFILE_MAX_SIZE_MB", 1180, 0, "logging.max_file_size_mb"},
    CufileVariable{"CUFILE_NVTX", 0, 1160, "profile.nvtx"},
    CufileVariable{"CUFILE_STATS_LEVEL", 1170, 0, "profile.cufile_stats"},
    CufileVariable{"CUFILE_VISIBLE_DEVICES", 1170, 0},
    CufileVariable{"CUFILE_MAX_DEVICE_CACHE_SIZE", 0, 0, "properties.max_device_cache_size_kb"},
    CufileVariable{"CUFILE_PER_BUFFER_CACHE_SIZE", 0, 0, "properties.per_buffer_cache_size_kb"},
    CufileVariable{"CUFILE_USE_PCIP2PDMA", 0, 0, "properties.use_pci_p2pdma"},
    CufileVariable{"CUFILE_ALLOW_COMPAT_MODE", 0, 1170, "properties.allow_compat_mode"},
    CufileVariable{"CUFILE_FORCE_COMPAT_MODE", 0, 0, "properties.force_compat_mode"},
    CufileVariable{"CUFILE_IO_PRIORITY", 0, 0, "properties.io_priority"},
    CufileVariable{"CUFILE_RDMA_DC_KEY", 0, 0, "properties.rdma_dc_key"},
    CufileVariable{"CUFILE_IB_SL", 0, 0, "properties.rdma_service_level"},
    CufileVariable{"CUFILE_ETH_SL", 0, 0, "properties.rdma_service_level"},
    CufileVariable{"CUFILE_RDMA_ALLOW_RDMA_TOKEN_RESET", 1190, 0, "properties.allow_rdma_token_reset"},
    CufileVariable{"CUFILE_RDMA_TOKEN_RESET_TIMEOUT_SECS", 1190, 0, "miscellaneous.rdma_token_reset_timeout_secs"},
    CufileVariable{"CUFILE_RDMA_QP_RESET", 1190, 0},
    CufileVariable{"CUFILE_SKIP_TOPOLOGY_DETECTION", 0, 0, "miscellaneous.skip_topology_detection"},
    CufileVariable{"CUFILE_STREAM_MEMOPS_BYPASS", 0, 0, "miscellaneous.stream_memops_bypass"},
    CufileVariable{"CUFILE_DMABUF_ENABLE"},
    CufileVariable{"CUFILE_EXPERIMENTAL_FS"},
    CufileVariable{"CUFILE_SKIP_BUFFER_VALIDITY_CHECK", 1200, 0},
    CufileVariable{"CUFILE_TEST_RDMA_DESC_GET_PAUSE_US", 1200, 0},
};

}  // namespace

std::span<const CufileVariable> cufile_variables() {
    return kVariables;
}

const CufileVariable* find_cufile_variable(std::string_view name) {
    const auto found = std::find_if(kVariables.begin(), kVariables.end(), [&](const CufileVariable& row) { return row.name == name; });
    return found == kVariables.end() ? nullptr : &*found;
}

}  // namespace waybill
