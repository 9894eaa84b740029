// The table of CudaApi: which exported name fills which member.
#pragma once

#include <array>

#include "gpu/cuda.hpp"

namespace waybill {

struct CudaEntry {
    const char* name;
    void** slot;
    bool optional = false;
};

template <class Function>
CudaEntry cuda_entry(const char* name, Function& slot, bool optional = false) {
    return {name, reinterpret_cast<void**>(&slot), optional};
}

// Every member of CudaApi with the name that the library exports: the newest suffix whose signature is the one declared.
inline auto cuda_entries(CudaApi& api) {
    return std::array{
        cuda_entry("cuInit", api.init),
        cuda_entry("cuDeviceGet", api.device_get),
        cuda_entry("cuDeviceGetCount", api.device_count),
        cuda_entry("cuDeviceGetName", api.device_name),
        cuda_entry("cuDeviceGetUuid_v2", api.device_uuid),
        cuda_entry("cuDeviceGetAttribute", api.device_attribute),
        cuda_entry("cuDeviceGetPCIBusId", api.device_pci_bus_id),
        cuda_entry("cuDevicePrimaryCtxRetain", api.primary_context_retain),
        cuda_entry("cuCtxGetCurrent", api.context_current),
        cuda_entry("cuCtxPushCurrent_v2", api.context_push),
        cuda_entry("cuCtxPopCurrent_v2", api.context_pop),
        cuda_entry("cuMemAlloc_v2", api.mem_alloc),
        cuda_entry("cuMemFree_v2", api.mem_free),
        cuda_entry("cuMemHostRegister_v2", api.host_register),
        cuda_entry("cuMemHostUnregister", api.host_unregister),
        cuda_entry("cuMemcpyHtoD_v2", api.copy_to_device),
        cuda_entry("cuMemcpyDtoH_v2", api.copy_to_host),
        cuda_entry("cuMemcpyHtoDAsync_v2", api.copy_to_device_async),
        cuda_entry("cuMemcpyDtoHAsync_v2", api.copy_to_host_async),
        cuda_entry("cuMemcpyBatchAsync_v2", api.copy_batch_async, true),
        cuda_entry("cuStreamCreate", api.stream_create),
        cuda_entry("cuStreamSynchronize", api.stream_synchronize),
        cuda_entry("cuStreamQuery", api.stream_query),
        cuda_entry("cuStreamWaitEvent", api.stream_wait_event),
        cuda_entry("cuStreamIsCapturing", api.stream_is_capturing),
        cuda_entry("cuEventCreate", api.event_create),
        cuda_entry("cuEventDestroy_v2", api.event_destroy),
        cuda_entry("cuEventRecord", api.event_record),
        cuda_entry("cuEventSynchronize", api.event_synchronize),
        cuda_entry("cuPointerGetAttributes", api.pointer_attributes),
        cuda_entry("cuThreadExchangeStreamCaptureMode", api.exchange_capture_mode),
        cuda_entry("cuGetErrorName", api.error_name),
        cuda_entry("cuCtxGetId", api.context_id, true),
    };
}

}  // namespace waybill
