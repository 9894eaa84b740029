// Our declarations of CUDA and cuFile against NVIDIA's own headers. Where the build finds none this is skipped, and said so.
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>

#include "gpu/cuda.hpp"
#include "gpu/cuda_entries.hpp"
#include "gpu/cufile.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>
#define WAYBILL_TEST_CUDA 1
#if __has_include(<cufile.h>)
#include <cufile.h>
#define WAYBILL_TEST_CUFILE 1
#endif
#endif

namespace waybill {
namespace {

// Values that are passed in the same way: both pointers (to values of one size, where both are known), both numbers of one
// size, both structures of one size and alignment.
template <class A, class B>
constexpr bool same_value() {
    if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
        return std::is_void_v<A> && std::is_void_v<B>;
    } else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
        using To = std::remove_pointer_t<A>;
        using From = std::remove_pointer_t<B>;
        if constexpr ((std::is_arithmetic_v<To> || std::is_enum_v<To>) && (std::is_arithmetic_v<From> || std::is_enum_v<From>)) {
            return sizeof(To) == sizeof(From);
        } else {
            return true;
        }
    } else {
        constexpr auto number = [](auto type) { return std::is_arithmetic_v<decltype(type)> || std::is_enum_v<decltype(type)>; };
        return number(A{}) == number(B{}) && std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B) &&
               alignof(A) == alignof(B);
    }
}

template <class A, class B>
struct SameCall : std::false_type {};
template <class ResultA, class... A, class ResultB, class... B>
    requires(sizeof...(A) == sizeof...(B))
struct SameCall<ResultA (*)(A...), ResultB (*)(B...)>
    : std::bool_constant<same_value<ResultA, ResultB>() && (same_value<A, B>() && ...)> {};

static_assert(SameCall<int (*)(void*, int), unsigned (*)(char*, unsigned)>::value);
static_assert(!SameCall<int (*)(void*, int), int (*)(void*, long)>::value);
static_assert(!SameCall<int (*)(int*), int (*)(long*)>::value);
static_assert(!SameCall<int (*)(void*), int (*)(void*, int)>::value);
static_assert(!SameCall<int (*)(void*), int (*)(long)>::value);

#ifdef WAYBILL_TEST_CUDA

TEST(CudaAbi, EveryEntryPointIsTheOneThatTheHeaderDeclares) {
    CudaApi api{};
    std::set<std::string> checked;
    const auto name_of = [&](void* member) {
        for (const CudaEntry& entry : cuda_entries(api)) {
            if (static_cast<void*>(entry.slot) == member) {
                return std::string(entry.name);
            }
        }
        return std::string("none");
    };
    // The header's macros put the newest suffix in place of a plain name, as the table must.
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define CHECK(member, function)                                                     \
    static_assert(SameCall<decltype(CudaApi::member), decltype(&::function)>::value); \
    EXPECT_EQ(name_of(&api.member), TEXT(function));                                \
    checked.insert(TEXT(function))
    CHECK(init, cuInit);
    CHECK(device_get, cuDeviceGet);
    CHECK(device_count, cuDeviceGetCount);
    CHECK(device_name, cuDeviceGetName);
    CHECK(device_uuid, cuDeviceGetUuid_v2);
    CHECK(device_attribute, cuDeviceGetAttribute);
    CHECK(device_pci_bus_id, cuDeviceGetPCIBusId);
    CHECK(primary_context_retain, cuDevicePrimaryCtxRetain);
    CHECK(context_current, cuCtxGetCurrent);
    CHECK(context_push, cuCtxPushCurrent);
    CHECK(context_pop, cuCtxPopCurrent);
    CHECK(mem_alloc, cuMemAlloc);
    CHECK(mem_free, cuMemFree);
    CHECK(host_register, cuMemHostRegister);
    CHECK(host_unregister, cuMemHostUnregister);
    CHECK(copy_to_device, cuMemcpyHtoD);
    CHECK(copy_to_host, cuMemcpyDtoH);
    CHECK(copy_to_device_async, cuMemcpyHtoDAsync);
    CHECK(copy_to_host_async, cuMemcpyDtoHAsync);
#if CUDA_VERSION >= 13000
    CHECK(copy_batch_async, cuMemcpyBatchAsync);
    static_assert(sizeof(CuCopyAttributes) == sizeof(CUmemcpyAttributes));
    static_assert(offsetof(CuCopyAttributes, source) == offsetof(CUmemcpyAttributes, srcLocHint));
    static_assert(offsetof(CuCopyAttributes, destination) == offsetof(CUmemcpyAttributes, dstLocHint));
    static_assert(offsetof(CuCopyAttributes, flags) == offsetof(CUmemcpyAttributes, flags));
    static_assert(offsetof(CuLocation, id) == offsetof(CUmemLocation, id));
    EXPECT_EQ(kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(kLocationHost, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(kSourceInStreamOrder, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
#else
    checked.insert("cuMemcpyBatchAsync_v2");  // an older header has another signature
#endif
    CHECK(stream_create, cuStreamCreate);
    CHECK(stream_synchronize, cuStreamSynchronize);
    CHECK(stream_query, cuStreamQuery);
    CHECK(stream_wait_event, cuStreamWaitEvent);
    CHECK(stream_is_capturing, cuStreamIsCapturing);
    CHECK(event_create, cuEventCreate);
    CHECK(event_destroy, cuEventDestroy);
    CHECK(event_record, cuEventRecord);
    CHECK(event_synchronize, cuEventSynchronize);
    CHECK(pointer_attributes, cuPointerGetAttributes);
    CHECK(exchange_capture_mode, cuThreadExchangeStreamCaptureMode);
    CHECK(error_name, cuGetErrorName);
    CHECK(context_id, cuCtxGetId);
#undef CHECK
    EXPECT_EQ(checked.size(), cuda_entries(api).size()) << "an entry point that this test does not know";
    EXPECT_EQ(sizeof(CudaApi), checked.size() * sizeof(void*)) << "a member that the table does not fill";
}

TEST(CudaAbi, ConstantsAndTypesAreTheHeaders) {
    EXPECT_EQ(kCudaSuccess, CUDA_SUCCESS);
    EXPECT_EQ(kCudaInvalidValue, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(kCudaNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
    EXPECT_EQ(kCudaNotReady, CUDA_ERROR_NOT_READY);
    EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
    EXPECT_EQ(kEventBlockingSync, static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC));
    EXPECT_EQ(kEventDisableTiming, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
    EXPECT_EQ(kHostPortable, static_cast<unsigned>(CU_MEMHOSTREGISTER_PORTABLE));
    EXPECT_EQ(kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_EQ(kMemoryTypeDevice, CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(kPointerContext, CU_POINTER_ATTRIBUTE_CONTEXT);
    EXPECT_EQ(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    EXPECT_EQ(kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
    EXPECT_EQ(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    EXPECT_EQ(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    EXPECT_EQ(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
    EXPECT_EQ(kDeviceGpuDirectRdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
    static_assert(sizeof(CuUuid) == sizeof(CUuuid));
    static_assert(sizeof(CuPointer) == sizeof(CUdeviceptr) && sizeof(CuDevice) == sizeof(CUdevice));
}

#else

TEST(CudaAbi, IsCheckedWhereNvidiasHeadersAre) {
    GTEST_SKIP() << "no cuda.h here; set WAYBILL_NVIDIA_HEADERS to the folders that hold cuda.h and cufile.h";
}

#endif
#ifdef WAYBILL_TEST_CUFILE

TEST(CufileAbi, CallsTypesAndCodesAreTheHeaders) {
#define CHECK(member, function) static_assert(SameCall<decltype(CufileApi::member), decltype(&::function)>::value)
    CHECK(driver_open, cuFileDriverOpen);
    CHECK(driver_close, cuFileDriverClose);
    CHECK(handle_register, cuFileHandleRegister);
    CHECK(handle_deregister, cuFileHandleDeregister);
    CHECK(buffer_register, cuFileBufRegister);
    CHECK(buffer_deregister, cuFileBufDeregister);
    CHECK(read, cuFileRead);
    CHECK(write, cuFileWrite);
    CHECK(get_version, cuFileGetVersion);
    CHECK(get_properties, cuFileDriverGetProperties);
    CHECK(set_poll_mode, cuFileDriverSetPollMode);
    CHECK(set_max_cache_size, cuFileDriverSetMaxCacheSize);
    CHECK(set_max_pinned_memory, cuFileDriverSetMaxPinnedMemSize);
#ifdef CUFILE_GPU_UUID_LEN  // came with the statistics calls
    CHECK(set_stats_level, cuFileSetStatsLevel);
    CHECK(get_stats_level, cuFileGetStatsLevel);
    CHECK(stats_start, cuFileStatsStart);
    CHECK(get_stats_l3, cuFileGetStatsL3);
#endif
#undef CHECK
    EXPECT_STREQ(TEXT(cuFileDriverClose), "cuFileDriverClose_v2");
    static_assert(sizeof(CufileStatus) == sizeof(CUfileError_t));
    static_assert(offsetof(CufileStatus, code) == offsetof(CUfileError_t, err));
    static_assert(offsetof(CufileStatus, cuda) == offsetof(CUfileError_t, cu_err));
    static_assert(sizeof(CufileDescription) == sizeof(CUfileDescr_t));
    static_assert(offsetof(CufileDescription, kind) == offsetof(CUfileDescr_t, type));
    static_assert(offsetof(CufileDescription, descriptor) == offsetof(CUfileDescr_t, handle));
    static_assert(offsetof(CufileDescription, operations) == offsetof(CUfileDescr_t, fs_ops));
    static_assert(sizeof(CufileDriverProperties) == sizeof(CUfileDrvProps_t));
    static_assert(offsetof(CufileDriverProperties, nvidia_fs.poll_threshold_kib) ==
                  offsetof(CUfileDrvProps_t, nvfs.poll_thresh_size));
    static_assert(offsetof(CufileDriverProperties, nvidia_fs.control_flags) == offsetof(CUfileDrvProps_t, nvfs.dcontrolflags));
    static_assert(offsetof(CufileDriverProperties, device_cache_kib) == offsetof(CUfileDrvProps_t, max_device_cache_size));
    static_assert(offsetof(CufileDriverProperties, per_buffer_cache_kib) == offsetof(CUfileDrvProps_t, per_buffer_cache_size));
    static_assert(offsetof(CufileDriverProperties, pinned_memory_kib) == offsetof(CUfileDrvProps_t, max_device_pinned_mem_size));
    EXPECT_EQ(CU_FILE_USE_POLL_MODE, 0);
    EXPECT_EQ(CU_FILE_ALLOW_COMPAT_MODE, 1);
    EXPECT_EQ(CufileDescription().kind, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
    EXPECT_EQ(kCufileSuccess, CU_FILE_SUCCESS);
    EXPECT_EQ(kCufileCudaError, CU_FILE_CUDA_DRIVER_ERROR);
    // CUFILEOP_STATUS_ENTRIES is NVIDIA's table of codes, a row each.
#define CUFILE_OP(code, name, text) std::pair{static_cast<int>(code), #name},
    for (const auto& [code, name] : {CUFILEOP_STATUS_ENTRIES std::pair{0, "CU_FILE_SUCCESS"}}) {
        if (code != kCufileSuccess && code != kCufileCudaError) {
            EXPECT_EQ(native_cufile({code, 0}).name, name);
        }
    }
#undef CUFILE_OP
}

#else

TEST(CufileAbi, IsCheckedWhereNvidiasHeadersAre) {
    GTEST_SKIP() << "no cufile.h here; set WAYBILL_NVIDIA_HEADERS to the folders that hold cuda.h and cufile.h";
}

#endif

}  // namespace
}  // namespace waybill
