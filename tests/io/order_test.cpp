// Copies and what callers queued before them, over the stand-ins, whose streams really run later.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "gpu/cuda.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kBytes = 300000;
constexpr std::byte kContent{0x5A};
constexpr unsigned char kOverwritten = 0x11;
void* const kPerThread = reinterpret_cast<void*>(2);

template <class Function>
Function cuda_call(const char* name) {
    return reinterpret_cast<Function>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), name));
}

// A file of one byte's value, a GPU buffer, and streams that are busy for a while and then overwrite the buffer.
class CallersStreams : public ::testing::Test {
protected:
    CallersStreams() : buffer_(Buffer::on_gpu(0, 4 * kBytes)), current_(primary_context(0)) {
        char name[] = "/tmp/waybill_order_XXXXXX";
        const int fd = ::mkstemp(name);
        path_ = name;
        const std::vector<std::byte> bytes(kBytes, kContent);
        EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        ::close(fd);
        for (void*& stream : streams_) {
            EXPECT_EQ(cuda().stream_create(&stream, 1), 0);
        }
    }
    ~CallersStreams() override { ::unlink(path_.c_str()); }

    // Queues work on `stream` that takes a while and then overwrites the k-th quarter of the buffer.
    void keep_busy(void* stream, std::size_t k) {
        static const auto launch = cuda_call<int (*)(void*, void (*)(void*), void*)>("cuLaunchHostFunc");
        static const auto set = cuda_call<int (*)(unsigned long long, unsigned char, std::size_t, void*)>("cuMemsetD8Async");
        EXPECT_EQ(launch(stream, [](void*) { ::usleep(60000); }, nullptr), 0);
        EXPECT_EQ(set(reinterpret_cast<unsigned long long>(buffer_.data()) + k * kBytes, kOverwritten, kBytes, stream), 0);
    }
    [[nodiscard]] Request request_on(void* stream, std::size_t k) const {
        Request request;
        request.target = {static_cast<std::byte*>(buffer_.data()) + k * kBytes, kBytes, {}, false};
        request.stream = stream;
        return request;
    }
    [[nodiscard]] bool holds_the_file(std::size_t k) const {
        std::vector<std::byte> bytes(kBytes);
        buffer_.copy_to_host(bytes.data(), k * kBytes, kBytes);
        return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == kContent; });
    }
    [[nodiscard]] File open(const char* mode) const {
        return File::open(path_, Mode::read, {{{"compat_mode", mode}, {"gds_threshold", "0"}}, {}});
    }

    std::string path_;
    Buffer buffer_;
    CurrentContext current_;
    std::array<void*, 3> streams_{};
};

TEST_F(CallersStreams, ManyRequestsComeAfterEachOfTheStreamsThatTheyName) {
    for (const char* mode : {"on", "off"}) {
        std::vector<Request> requests;
        for (std::size_t k = 0; k < streams_.size(); ++k) {
            keep_busy(streams_[k], k);
            requests.push_back(request_on(streams_[k], k));
        }
        (void)open(mode).read_many(requests);
        for (std::size_t k = 0; k < streams_.size(); ++k) {
            EXPECT_EQ(cuda().stream_synchronize(streams_[k]), 0);
            EXPECT_TRUE(holds_the_file(k)) << "compat_mode=" << mode << ", stream " << k;
        }
    }
}

// Another thread's copy on "the per-thread stream" would be on another stream.
TEST_F(CallersStreams, AThreadOfThePoolComesAfterTheCallersPerThreadStream) {
    keep_busy(kPerThread, 0);
    (void)open("on").pread(request_on(kPerThread, 0)).get();
    EXPECT_EQ(cuda().stream_synchronize(kPerThread), 0);
    EXPECT_TRUE(holds_the_file(0));
}

TEST_F(CallersStreams, ACapturingStreamIsRefusedWhicheverRequestNamesIt) {
    ASSERT_EQ(cuda_call<int (*)(void*, int)>("cuStreamBeginCapture_v2")(streams_[1], 2), 0);
    const std::vector<Request> requests{request_on(streams_[0], 0), request_on(streams_[1], 1)};
    try {
        (void)open("on").read_many(requests);
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::capturing_stream);
    }
    void* graph = nullptr;
    cuda_call<int (*)(void*, void**)>("cuStreamEndCapture")(streams_[1], &graph);
    EXPECT_EQ(open("on").read_many(requests).moved_bytes, 2 * kBytes);
}

// The last request's memory must not decide for the others: cuFile takes no managed memory.
TEST_F(CallersStreams, ACallThatReadsIntoManagedMemoryTooIsStagedWhateverItsOrder) {
    unsigned long long managed = 0;
    ASSERT_EQ(cuda_call<int (*)(unsigned long long*, std::size_t, unsigned)>("cuMemAllocManaged")(&managed, kBytes, 1), 0);
    Request into_managed;
    into_managed.target = {reinterpret_cast<void*>(managed), kBytes, {}, false};
    Request into_device = request_on(nullptr, 0);
    for (const bool managed_first : {true, false}) {
        std::vector<Request> requests{into_managed, into_device};
        if (!managed_first) {
            std::swap(requests[0], requests[1]);
        }
        const Receipt receipt = open("off").read_many(requests);
        EXPECT_EQ(receipt.engine, EngineKind::staged);
        EXPECT_EQ(receipt.route->reasons.front().id, "managed-memory");
    }
    cuda_call<int (*)(unsigned long long)>("cuMemFree_v2")(managed);
}

}  // namespace
}  // namespace waybill
