// Reads and writes on all engines, over the stand-ins of libcuda and libcufile (LD_LIBRARY_PATH is set by CMake).
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "gpu/cuda.hpp"
#include "pool/slots.hpp"
#include "random_bytes.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kFileBytes = 9 * 1024 * 1024 + 777;

class TestFile {
public:
    explicit TestFile(const std::vector<std::byte>& bytes) {
        char name[] = "/tmp/waybill_io_XXXXXX";
        const int fd = ::mkstemp(name);
        path_ = name;
        EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        ::close(fd);
    }
    ~TestFile() { std::filesystem::remove(path_); }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::byte> read_back() const {
        std::vector<std::byte> bytes(std::filesystem::file_size(path_));
        const int fd = ::open(path_.c_str(), O_RDONLY);
        EXPECT_EQ(::read(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        ::close(fd);
        return bytes;
    }

private:
    std::string path_;
};

// The ways that bytes can go here: engine by settings, and where to.
struct Way {
    const char* name;
    SettingValues settings;
    bool to_gpu;
    EngineKind engine;
};

std::vector<Way> all_ways() {
    return {
        {"host", {}, false, EngineKind::host},
        {"host_direct", {{"page_cache", "direct"}, {"bounce_buffer_size", "64K"}}, false, EngineKind::host},
        {"host_bypass", {{"page_cache", "bypass"}}, false, EngineKind::host},
        {"staged", {{"compat_mode", "on"}}, true, EngineKind::staged},
        {"staged_small_slots", {{"compat_mode", "on"}, {"bounce_buffer_size", "64K"}, {"task_size", "100000"}, {"num_threads", "4"}}, true, EngineKind::staged},
        {"staged_direct", {{"compat_mode", "on"}, {"page_cache", "direct"}, {"bounce_buffer_size", "128K"}, {"num_threads", "3"}}, true, EngineKind::staged},
        {"staged_one_slot", {{"compat_mode", "on"}, {"bounce_buffer_size", "64K"}, {"pinned_limit", "64K"}}, true, EngineKind::staged},
        {"cufile", {{"compat_mode", "off"}, {"gds_threshold", "0"}, {"task_size", "1MiB"}, {"num_threads", "4"}}, true, EngineKind::cufile},
    };
}

class EveryWay : public ::testing::TestWithParam<Way> {
protected:
    static void SetUpTestSuite() { bytes_ = random_bytes(kFileBytes, 1); }
    [[nodiscard]] File open(const std::string& path, Mode mode = Mode::read) const {
        return File::open(path, mode, {GetParam().settings, {}});
    }
    // Memory with marked edges, on the side that this way goes to.
    struct Memory {
        Buffer buffer;
        std::uint64_t edge;
        [[nodiscard]] Target target(std::uint64_t size) const {
            return {static_cast<std::byte*>(buffer.data()) + edge, size, {}, false};
        }
        [[nodiscard]] std::vector<std::byte> content() const {
            std::vector<std::byte> all(buffer.size_bytes());
            buffer.copy_to_host(all.data(), 0, all.size());
            return all;
        }
    };
    [[nodiscard]] Memory memory(std::uint64_t size, std::uint64_t edge) const {
        Memory memory{GetParam().to_gpu ? Buffer::on_gpu(0, size + 2 * edge) : Buffer::on_host(size + 2 * edge), edge};
        const std::vector<std::byte> marks(size + 2 * edge, std::byte{0xA5});
        memory.buffer.copy_from_host(marks.data(), 0, marks.size());
        return memory;
    }
    static void expect_content(const Memory& memory, std::uint64_t offset, std::uint64_t moved) {
        const std::vector<std::byte> all = memory.content();
        ASSERT_EQ(std::memcmp(all.data() + memory.edge, bytes_.data() + offset, moved), 0);
        for (std::uint64_t k = 0; k < memory.edge; ++k) {
            ASSERT_EQ(all[k], std::byte{0xA5}) << "before the memory";
        }
        for (std::uint64_t k = memory.edge + moved; k < all.size(); ++k) {
            ASSERT_EQ(all[k], std::byte{0xA5}) << "after the bytes, at " << k;
        }
    }
    static std::vector<std::byte> bytes_;
};
std::vector<std::byte> EveryWay::bytes_;

TEST_P(EveryWay, BringsEveryByteOfRandomRangesAndTouchesNothingElse) {
    const TestFile source(bytes_);
    const File file = open(source.path());
    std::mt19937_64 random(42);
    for (int k = 0; k < 60; ++k) {
        const std::uint64_t size = k % 4 == 0 ? random() % 5000 : random() % (kFileBytes / 2);
        const std::uint64_t offset = random() % (kFileBytes - size + 1);
        const Memory target = memory(size, random() % 700);
        Request request;
        request.file_offset = offset;
        request.size_bytes = size;
        request.target = target.target(size);
        const Receipt receipt = file.read(request);
        EXPECT_EQ(receipt.moved_bytes, size);
        EXPECT_FALSE(receipt.is_short);
        if (size != 0) {
            EXPECT_EQ(receipt.engine, GetParam().engine);
        }
        EXPECT_EQ(receipt.source.page_cache_bytes + receipt.source.device_bytes + receipt.source.unknown_bytes, size);
        expect_content(target, offset, size);
    }
}

TEST_P(EveryWay, OneRuleForTheEndOfTheFile) {
    const TestFile source(bytes_);
    const File file = open(source.path());
    const Memory target = memory(100000, 64);
    Request request;
    request.file_offset = kFileBytes - 12345;
    request.size_bytes = 100000;
    request.target = target.target(100000);
    const Receipt receipt = file.read(request);
    EXPECT_EQ(receipt.moved_bytes, 12345U);
    EXPECT_EQ(receipt.asked_bytes, 100000U);
    EXPECT_TRUE(receipt.is_short);
    EXPECT_EQ(receipt.short_reason, "end-of-file");
    expect_content(target, kFileBytes - 12345, 12345);
    request.file_offset = kFileBytes;
    EXPECT_EQ(file.read(request).moved_bytes, 0U);
    request.file_offset = kFileBytes + 1;
    try {
        (void)file.read(request);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::offset_past_end);
    }
    // Without a size: what there is, at most what the memory holds.
    request.size_bytes.reset();
    request.file_offset = kFileBytes - 10;
    const Receipt rest = file.read(request);
    EXPECT_EQ(rest.moved_bytes, 10U);
    EXPECT_FALSE(rest.is_short);
}

TEST_P(EveryWay, FuturesGiveTheSameAndMayBeDropped) {
    const TestFile source(bytes_);
    const File file = open(source.path());
    std::vector<Memory> targets;
    std::vector<Future> futures;
    for (int k = 0; k < 20; ++k) {
        targets.push_back(memory(300000, 16));
        Request request;
        request.file_offset = static_cast<std::uint64_t>(k) * 10007;
        request.size_bytes = 300000;
        request.target = targets.back().target(300000);
        futures.push_back(file.pread(request));
    }
    futures.resize(15);  // the others are cancelled or waited for
    for (std::size_t k = 0; k < futures.size(); ++k) {
        EXPECT_EQ(futures[k].get().moved_bytes, 300000U);
        EXPECT_TRUE(futures[k].done());
        expect_content(targets[k], k * 10007, 300000);
    }
}

TEST_P(EveryWay, ManyThreadsShareOneFile) {
    const TestFile source(bytes_);
    const File file = open(source.path());
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (unsigned t = 0; t < 6; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937_64 random(t);
            for (int k = 0; k < 15; ++k) {
                const std::uint64_t size = random() % 600000 + 1;
                const std::uint64_t offset = random() % (kFileBytes - size);
                const Memory target = memory(size, 8);
                Request request;
                request.file_offset = offset;
                request.size_bytes = size;
                request.target = target.target(size);
                if (file.read(request).moved_bytes != size ||
                    std::memcmp(target.content().data() + 8, bytes_.data() + offset, size) != 0) {
                    ++wrong;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST_P(EveryWay, ReadManyGivesTotalsAndAResultForEach) {
    const TestFile source(bytes_);
    const File file = open(source.path());
    std::mt19937_64 random(3);
    std::vector<Memory> targets;
    std::vector<Request> requests;
    std::uint64_t total = 0;
    for (int k = 0; k < 50; ++k) {
        const std::uint64_t size = random() % 70000;
        targets.push_back(memory(size, 32));
        Request request;
        request.file_offset = random() % (kFileBytes - 70000);
        request.size_bytes = size;
        request.target = targets.back().target(size);
        requests.push_back(request);
        total += size;
    }
    requests.back().file_offset = kFileBytes - 5;
    requests.back().size_bytes = 6;
    targets.back() = memory(6, 32);
    requests.back().target = targets.back().target(6);
    const Receipt receipt = file.read_many(requests);
    ASSERT_EQ(receipt.results.size(), requests.size());
    std::uint64_t moved = 0;
    for (std::size_t k = 0; k < requests.size(); ++k) {
        const RequestResult& result = receipt.results[k];
        moved += result.moved_bytes;
        EXPECT_EQ(result.asked_bytes, requests[k].size_bytes);
        expect_content(targets[k], requests[k].file_offset, result.moved_bytes);
    }
    EXPECT_EQ(receipt.moved_bytes, moved);
    EXPECT_TRUE(receipt.results.back().is_short);
    EXPECT_EQ(receipt.results.back().moved_bytes, 5U);
    (void)total;
}

TEST_P(EveryWay, WritesEveryByteOfRandomRanges) {
    std::vector<std::byte> expected = random_bytes(kFileBytes, 5);
    const TestFile sink(expected);
    for (const char* direct : {"false", "true"}) {
        const File file = open(sink.path(), Mode::read_write);
        std::mt19937_64 random(9);
        for (int k = 0; k < 25; ++k) {
            const std::uint64_t size = random() % (1 << 20);
            const std::uint64_t offset = random() % (kFileBytes - size);
            const std::vector<std::byte> fresh = random_bytes(size + 100, static_cast<unsigned>(k));
            Memory source = memory(size, 50);
            source.buffer.copy_from_host(fresh.data(), 50, size);
            Request request;
            request.file_offset = offset;
            request.target = source.target(size);
            request.sync = k % 5 == 0;
            const Receipt receipt = file.write(request, {{"direct_write", direct}});
            EXPECT_EQ(receipt.moved_bytes, size);
            EXPECT_EQ(receipt.op, Direction::write);
            std::copy_n(fresh.begin(), size, expected.begin() + static_cast<std::ptrdiff_t>(offset));
        }
        file.sync();
        EXPECT_TRUE(sink.read_back() == expected) << direct;
    }
}

TEST_P(EveryWay, ClosingLetsRunningRequestsEnd) {
    const TestFile source(bytes_);
    for (int k = 0; k < 10; ++k) {
        File file = open(source.path());
        const Memory target = memory(kFileBytes, 0);
        Request request;
        request.target = target.target(kFileBytes);
        Future future = file.pread(request);
        file.close();
        EXPECT_EQ(future.get().moved_bytes, kFileBytes);
        expect_content(target, 0, kFileBytes);
        EXPECT_TRUE(file.closed());
        EXPECT_EQ(file.descriptor(), -1);
        try {
            (void)file.read(request);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::file_closed);
        }
    }
}

TEST_P(EveryWay, ATruncationMeanwhileIsAnErrorThatTellsTheGoodBytes) {
    if (GetParam().engine == EngineKind::cufile) {
        GTEST_SKIP() << "the stand-in reads faster than a truncation can come; see the command line's tests";
    }
    const TestFile source(bytes_);
    int truncated = 0;
    for (int k = 0; k < 30 && truncated < 3; ++k) {
        ::truncate(source.path().c_str(), 0);
        const int fd = ::open(source.path().c_str(), O_WRONLY);
        ASSERT_EQ(::write(fd, bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
        const File file = open(source.path());
        const Memory target = memory(kFileBytes, 0);
        Request request;
        request.target = target.target(kFileBytes);
        const Future future = file.pread(request);
        ASSERT_EQ(::ftruncate(fd, 1 << 20), 0);
        ::close(fd);
        try {
            EXPECT_EQ(future.get().moved_bytes <= kFileBytes, true);
        } catch (const Error& error) {
            ++truncated;
            EXPECT_EQ(error.code(), ErrorCode::file_truncated);
            ASSERT_TRUE(error.receipt());
            for (const ByteRange& range : error.receipt()->good) {
                EXPECT_LE(range.offset + range.bytes, kFileBytes);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryWay, ::testing::ValuesIn(all_ways()), [](const auto& way) { return way.param.name; });

ErrorCode code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::internal;
}

TEST(Refusals, NameWhatIsWrong) {
    const TestFile source(random_bytes(100000, 1));
    EXPECT_EQ(code_of([] { (void)File::open("/nowhere/x"); }), ErrorCode::file_not_found);
    EXPECT_EQ(code_of([] { (void)File::open("/tmp"); }), ErrorCode::is_directory);
    EXPECT_EQ(code_of([] { (void)File::open("/dev/zero"); }), ErrorCode::not_regular_file);
    EXPECT_EQ(code_of([] { (void)parse_mode("rb+x"); }), ErrorCode::invalid_argument);
    const File file = File::open(source.path());
    std::byte small[10];
    Request request;
    request.size_bytes = 11;
    request.target = {small, sizeof small, {}, false};
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::destination_too_small);
    request.size_bytes = 10;
    EXPECT_EQ(code_of([&] { (void)file.write(request); }), ErrorCode::read_only_file);
    request.target.read_only = true;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::read_only_destination);
    request.target = {nullptr, 10, {}, false};
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::null_pointer);
    request.target = {reinterpret_cast<void*>(0x1000), 10, {}, false};
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::bad_pointer);
    request.target = {small, sizeof small, {}, false};
    request.target_offset = 11;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::destination_too_small);
    request.target_offset = 0;
    request.file_offset = ~std::uint64_t{0} - 3;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::offset_past_end);
    EXPECT_EQ(code_of([&] { (void)file.read_many({}); }), ErrorCode::invalid_argument);
    std::vector<Request> differing(2);
    differing[0].target = differing[1].target = {small, sizeof small, {}, false};
    differing[1].require = Require::direct;
    EXPECT_EQ(code_of([&] { (void)file.read_many(differing); }), ErrorCode::invalid_argument);
    request.file_offset = 0;
    request.sync = true;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::invalid_argument);
}

TEST(Refusals, DeviceMemoryMustCoverTheRange) {
    const TestFile source(random_bytes(100000, 1));
    const File file = File::open(source.path());
    const Buffer buffer = Buffer::on_gpu(0, 1000);
    Request request;
    request.size_bytes = 1001;
    request.target = {buffer.data(), 5000, {}, false};  // the caller is mistaken about its size
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::destination_too_small);
    void* freed = nullptr;
    {
        const Buffer gone = Buffer::on_gpu(0, 100000);
        freed = gone.data();
    }
    request.size_bytes = 100;
    request.target = {freed, 100000, {}, false};
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::bad_pointer);
}

TEST(Require, PassesOnProofAndFailsWithoutIt) {
    const TestFile source(random_bytes(1 << 20, 1));
    const File file = File::open(source.path(), Mode::read, {{{"compat_mode", "on"}}, {}});
    const Buffer buffer = Buffer::on_gpu(0, 1 << 20);
    Request request;
    request.target = {buffer.data(), 1 << 20, {}, false};
    request.require = Require::staged;
    EXPECT_EQ(file.read(request).judgement, Judgement::proved);
    request.require = Require::direct;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::route_refused);
}

TEST(Memory, OfAllKindsIsRecognised) {
    const TestFile source(random_bytes(300000, 1));
    const File file = File::open(source.path(), Mode::read, {{{"compat_mode", "on"}}, {}});
    (void)Buffer::on_gpu(0, 1);
    using Alloc = int (*)(unsigned long long*, std::size_t, unsigned);
    using AllocAsync = int (*)(unsigned long long*, std::size_t, void*);
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    const CurrentContext current(primary_context(0));
    unsigned long long managed = 0;
    ASSERT_EQ(reinterpret_cast<Alloc>(::dlsym(library, "cuMemAllocManaged"))(&managed, 300000, 1), 0);
    unsigned long long pooled = 0;
    ASSERT_EQ(reinterpret_cast<AllocAsync>(::dlsym(library, "cuMemAllocAsync"))(&pooled, 300000, nullptr), 0);
    Request request;
    request.target = {reinterpret_cast<void*>(managed), 300000, {}, false};
    Receipt receipt = file.read(request, {{"compat_mode", "off"}});
    EXPECT_EQ(receipt.destination.memory, MemoryKind::managed);
    EXPECT_EQ(receipt.route->reasons.front().id, "managed-memory");
    // Memory of the pool has no context of its own: the device's primary one is used.
    request.target.pointer = reinterpret_cast<void*>(pooled);
    receipt = file.read(request);
    EXPECT_EQ(receipt.destination.memory, MemoryKind::device);
    EXPECT_EQ(receipt.moved_bytes, 300000U);
}

TEST(Memory, ARangeMaySpanMappings) {
    (void)Buffer::on_gpu(0, 1);
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto call = [&](const char* name) { return ::dlsym(library, name); };
    constexpr std::uint64_t kMapBytes = 2 << 20;
    unsigned long long base = 0;
    reinterpret_cast<int (*)(unsigned long long*, std::size_t, std::size_t, unsigned long long, unsigned long long)>(
        call("cuMemAddressReserve"))(&base, 3 * kMapBytes, 0, 0, 0);
    for (std::uint64_t k = 0; k < 2; ++k) {
        unsigned long long handle = 0;
        reinterpret_cast<int (*)(unsigned long long*, std::size_t, const void*, unsigned long long)>(call("cuMemCreate"))(
            &handle, kMapBytes, nullptr, 0);
        reinterpret_cast<int (*)(unsigned long long, std::size_t, std::size_t, unsigned long long, unsigned long long)>(
            call("cuMemMap"))(base + k * kMapBytes, kMapBytes, 0, handle, 0);
        reinterpret_cast<int (*)(unsigned long long)>(call("cuMemRelease"))(handle);  // the mapping keeps the memory
    }
    const std::vector<std::byte> bytes = random_bytes(3 << 20, 2);
    const TestFile source(bytes);
    const File file = File::open(source.path(), Mode::read, {{{"compat_mode", "on"}}, {}});
    Request request;
    request.target = {reinterpret_cast<void*>(base + 1000), 3 << 20, {}, false};
    EXPECT_EQ(file.read(request).moved_bytes, 3U << 20);
    std::vector<std::byte> back(3 << 20);
    const CurrentContext current(primary_context(0));
    ASSERT_EQ(cuda().copy_to_host(back.data(), base + 1000, back.size()), 0);
    EXPECT_TRUE(back == bytes);
    request.size_bytes = 3 << 20;
    request.target = {reinterpret_cast<void*>(base + (2 << 20)), 3 << 20, {}, false};
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::destination_too_small);
    for (std::uint64_t k = 0; k < 2; ++k) {
        reinterpret_cast<int (*)(unsigned long long, std::size_t)>(call("cuMemUnmap"))(base + k * kMapBytes, kMapBytes);
    }
    reinterpret_cast<int (*)(unsigned long long, std::size_t)>(call("cuMemAddressFree"))(base, 3 * kMapBytes);
}

TEST(Memory, AnAllocationEndsWhereItEndsThoughAnotherBeginsThere) {
    const TestFile source(random_bytes(9000, 1));
    const File file = File::open(source.path());
    // Many neighbours: some pair lies back to back.
    std::vector<Buffer> buffers;
    for (int k = 0; k < 50; ++k) {
        buffers.push_back(Buffer::on_gpu(0, 4096));
    }
    for (const Buffer& buffer : buffers) {
        Request request;
        request.size_bytes = 4097;
        request.target = {buffer.data(), 9000, {}, false};
        EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::destination_too_small);
    }
}

TEST(Order, CopiesComeAfterWhatTheCallerQueued) {
    const std::vector<std::byte> bytes = random_bytes(6 << 20, 3);
    const TestFile source(bytes);
    const Buffer buffer = Buffer::on_gpu(0, bytes.size());
    const CurrentContext current(primary_context(0));
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto launch = reinterpret_cast<int (*)(void*, void (*)(void*), void*)>(::dlsym(library, "cuLaunchHostFunc"));
    const auto set = reinterpret_cast<int (*)(unsigned long long, unsigned char, std::size_t, void*)>(::dlsym(library, "cuMemsetD8Async"));
    for (const std::uint64_t size : {std::uint64_t{5000}, std::uint64_t{6} << 20}) {
        for (const char* mode : {"on", "off"}) {
            const File file = File::open(source.path(), Mode::read, {{{"compat_mode", mode}}, {}});
            // A slow piece of work on the default stream, then one that overwrites the memory: both before the read.
            launch(nullptr, [](void*) { ::usleep(30000); }, nullptr);
            set(reinterpret_cast<unsigned long long>(buffer.data()), 0x11, size, nullptr);
            Request request;
            request.size_bytes = size;
            request.target = {buffer.data(), bytes.size(), {}, false};
            (void)file.read(request);
            std::vector<std::byte> back(size);
            buffer.copy_to_host(back.data(), 0, size);
            EXPECT_EQ(std::memcmp(back.data(), bytes.data(), size), 0) << mode << ' ' << size;
        }
    }
}

TEST(Order, ACapturingStreamIsRefused) {
    const TestFile source(random_bytes(100000, 3));
    const Buffer buffer = Buffer::on_gpu(0, 100000);
    const CurrentContext current(primary_context(0));
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    void* stream = nullptr;
    ASSERT_EQ(cuda().stream_create(&stream, 0), 0);
    ASSERT_EQ(reinterpret_cast<int (*)(void*, int)>(::dlsym(library, "cuStreamBeginCapture_v2"))(stream, 0), 0);
    const File file = File::open(source.path());
    Request request;
    request.target = {buffer.data(), 100000, {}, false};
    request.stream = stream;
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::capturing_stream);
    request.stream.reset();  // the legacy stream would break the capture
    EXPECT_EQ(code_of([&] { (void)file.read(request); }), ErrorCode::capturing_stream);
    void* graph = nullptr;
    reinterpret_cast<int (*)(void*, void**)>(::dlsym(library, "cuStreamEndCapture"))(stream, &graph);
    EXPECT_EQ(file.read(request).moved_bytes, 100000U);
}

TEST(Context, TheCallersIsLeftAsItWas) {
    const TestFile source(random_bytes(100000, 3));
    const Buffer buffer = Buffer::on_gpu(0, 100000);
    const File file = File::open(source.path());
    Request request;
    request.target = {buffer.data(), 100000, {}, false};
    CuContext before = nullptr;
    CuContext after = nullptr;
    cuda().context_current(&before);
    (void)file.read(request);
    cuda().context_current(&after);
    EXPECT_EQ(before, after);
}

TEST(Leaks, DescriptorsAndPinnedMemoryStayFlat) {
    const TestFile source(random_bytes(3 << 20, 3));
    const auto descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    };
    const Buffer buffer = Buffer::on_gpu(0, 3 << 20);
    const auto once = [&] {
        const File file = File::open(source.path(), Mode::read, {{{"compat_mode", "on"}, {"page_cache", "bypass"}}, {}});
        Request request;
        request.target = {buffer.data(), 3 << 20, {}, false};
        (void)file.read(request);
        Future future = file.pread(request);
        (void)future.event_descriptor();
        (void)future.cancel();
    };
    for (int k = 0; k < 5; ++k) {
        once();
    }
    ::usleep(200000);  // tickets that no worker has looked at yet keep their transfers for a moment
    const auto before = descriptors();
    const std::uint64_t pinned = SlotPool::instance().held_bytes();
    for (int k = 0; k < 100; ++k) {
        once();
    }
    for (int k = 0; k < 200 && descriptors() > before; ++k) {
        ::usleep(10000);
    }
    EXPECT_LE(descriptors(), before);
    EXPECT_LE(SlotPool::instance().held_bytes(), std::max<std::uint64_t>(pinned, 128 << 20));
}

}  // namespace
}  // namespace waybill
