// Engines where memory or alignment is not as usual. mmap is wrapped at link time; libcuda is the stand-in.
#include "engine/engine.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "base/fd.hpp"
#include "child.hpp"
#include "pool/slots.hpp"
#include "waybill/waybill.hpp"

namespace {

std::atomic<bool> no_memory{false};

}  // namespace

extern "C" void* __real_mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset);
extern "C" void* __wrap_mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    return no_memory ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
}

namespace waybill {
namespace {

constexpr std::size_t kFileBytes = 4 << 20;

// A file of known bytes with the descriptors of one engine's file.
class OneFile {
public:
    OneFile() : bytes_(kFileBytes) {
        for (std::size_t k = 0; k < bytes_.size(); ++k) {
            bytes_[k] = static_cast<std::byte>(k * 7 + k / 4096);
        }
        char name[] = "/tmp/waybill_engine_XXXXXX";
        buffered_ = Fd(::mkstemp(name));
        path_ = name;
        EXPECT_EQ(::write(buffered_.get(), bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
        direct_ = reopen(buffered_.get(), O_RDWR | O_DIRECT);
    }
    ~OneFile() { ::unlink(path_.c_str()); }
    OneFile(const OneFile&) = delete;
    OneFile& operator=(const OneFile&) = delete;

    [[nodiscard]] Work work(PageCacheUse use, std::byte* memory) const {
        Work work;
        work.file.buffered = buffered_.get();
        work.file.direct = direct_.get();
        work.page_cache = use;
        work.memory = memory;
        return work;
    }
    [[nodiscard]] bool knows_direct() const { return static_cast<bool>(direct_); }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::byte> read_back() const {
        std::vector<std::byte> back(kFileBytes);
        EXPECT_EQ(::pread(buffered_.get(), back.data(), back.size(), 0), static_cast<ssize_t>(back.size()));
        return back;
    }

private:
    std::vector<std::byte> bytes_;
    std::string path_;
    Fd buffered_;
    Fd direct_;
};

Outcome move_one(Engine& engine, const Work& work, std::uint64_t size_bytes) {
    const Assignment assignment{&work, {0, size_bytes}};
    engine.submit({&assignment, 1});
    std::vector<Outcome> outcomes;
    engine.reap(outcomes, true);
    EXPECT_EQ(outcomes.size(), 1U);
    return outcomes.empty() ? Outcome() : outcomes.front();
}

Lading lading_of(std::size_t slot_bytes) {
    Lading lading;
    lading.slot_bytes = slot_bytes;
    lading.pinned_limit = 64 << 20;
    return lading;
}

TEST(HostEngine, WithoutMemoryEndsTheTaskAndThrowsNothing) {
    const OneFile file;
    if (!file.knows_direct()) {
        GTEST_SKIP() << "no O_DIRECT on /tmp";
    }
    std::vector<std::byte> memory(100000);
    const auto engine = make_engine(EngineKind::host, Direction::read, lading_of(30 << 20));
    const Work work = file.work(PageCacheUse::direct, memory.data());
    no_memory = true;
    Outcome outcome;
    EXPECT_NO_THROW(outcome = move_one(*engine, work, memory.size()));
    no_memory = false;
    EXPECT_EQ(outcome.failure.kind, Failure::Kind::no_memory);
    EXPECT_EQ(outcome.moved_bytes, 0U);
    outcome = move_one(*engine, work, memory.size());  // memory is back, and so is the engine
    EXPECT_EQ(outcome.moved_bytes, memory.size());
    EXPECT_TRUE(std::equal(memory.begin(), memory.end(), file.bytes().begin()));
}

TEST(HostEngine, PinsNothingThoughCudaIsThere) {
    const OneFile file;
    if (!file.knows_direct()) {
        GTEST_SKIP() << "no O_DIRECT on /tmp";
    }
    EXPECT_EQ(in_child([&] {
                  (void)cuda();  // no context is current in this thread: nothing could be pinned
                  std::vector<std::byte> memory(100000);
                  std::vector<std::unique_ptr<Engine>> engines;
                  for (int k = 0; k < 3; ++k) {  // all three have a slot at once
                      engines.push_back(make_engine(EngineKind::host, Direction::read, lading_of(1 << 20)));
                      const Work work = file.work(PageCacheUse::direct, memory.data());
                      if (move_one(*engines.back(), work, memory.size()).moved_bytes != memory.size()) {
                          return 1;
                      }
                  }
                  return SlotPool::instance().refusals() == 0 ? 7 : 2;
              }), 7);
}

TEST(StagedEngine, WritesThroughDirectIoWhateverItsAlignment) {
    const OneFile file;
    if (!file.knows_direct()) {
        GTEST_SKIP() << "no O_DIRECT on /tmp";
    }
    constexpr std::uint64_t kOffset = 3 * 4096 + 17;
    constexpr std::uint64_t kBytes = 1 << 20;
    for (const std::size_t align : {std::size_t{4096}, std::size_t{16384}, std::size_t{65536}}) {
        Buffer buffer = Buffer::on_gpu(0, kBytes);
        const std::vector<std::byte> fresh(kBytes, static_cast<std::byte>(align >> 12));
        buffer.copy_from_host(fresh.data(), 0, kBytes);
        Lading lading = lading_of(kBytes);
        lading.owner = find_owner(buffer.data());
        const CurrentContext current(lading.owner.context);
        Work work = file.work(PageCacheUse::use, static_cast<std::byte*>(buffer.data()));
        work.direction = Direction::write;
        work.direct_write = true;
        work.file_offset = kOffset;
        work.file.direct_align = align;
        const auto engine = make_engine(EngineKind::staged, Direction::write, lading);
        const Outcome outcome = move_one(*engine, work, kBytes);
        EXPECT_EQ(outcome.moved_bytes, kBytes);
        EXPECT_EQ(outcome.direct_bytes, (kOffset + kBytes) / align * align - (kOffset + align - 1) / align * align) << align;
        const std::vector<std::byte> back = file.read_back();
        EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), back.begin() + kOffset));
        EXPECT_TRUE(std::equal(back.begin(), back.begin() + kOffset, file.bytes().begin()));
    }
}

TEST(Receipt, SaysWhetherDirectIoMovedBytes) {
    const OneFile source;
    if (!source.knows_direct()) {
        GTEST_SKIP() << "no O_DIRECT on /tmp";
    }
    Buffer buffer = Buffer::on_host(1 << 20);
    const File file = File::open(source.path(), Mode::read_write);
    Request request;
    request.target = {buffer.data(), buffer.size_bytes(), {}, false};
    EXPECT_TRUE(file.write(request, {{"direct_write", "true"}}).direct_descriptor);
    EXPECT_FALSE(file.write(request, {{"direct_write", "false"}}).direct_descriptor);
    EXPECT_TRUE(file.read(request, {{"page_cache", "direct"}}).direct_descriptor);
    EXPECT_FALSE(file.read(request, {{"page_cache", "use"}}).direct_descriptor);
    request.target_offset = 7;  // memory that is not aligned as the file is: written through the page cache
    EXPECT_FALSE(file.write(request, {{"direct_write", "true"}}).direct_descriptor);
}

}  // namespace
}  // namespace waybill
