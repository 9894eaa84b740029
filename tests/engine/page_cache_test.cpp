// What reads do to the page cache, and what they say of it, for files that lie in it in parts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/cachestat.hpp"
#include "base/fd.hpp"
#include "base/read_ahead.hpp"
#include "engine/cache_picture.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kFileBytes = 64 * kMiB;

// A file of which the first part was read just now, in order, so that the kernel's read-ahead is on its way through it.
class PrimedFile {
public:
    explicit PrimedFile(std::uint64_t primed_bytes) {
        char name[] = "/tmp/waybill_cache_XXXXXX";
        fd_ = Fd(::mkstemp(name));
        path_ = name;
        std::vector<std::byte> bytes(kMiB);
        for (std::uint64_t at = 0; at < kFileBytes; at += kMiB) {
            for (std::size_t k = 0; k < bytes.size(); ++k) {
                bytes[k] = content(at + k);
            }
            EXPECT_EQ(::write(fd_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        }
        ::fsync(fd_.get());
        ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
        for (std::uint64_t at = 0; at < primed_bytes; at += 128 * 1024) {
            EXPECT_GT(::pread(fd_.get(), bytes.data(), 128 * 1024, static_cast<off_t>(at)), 0);
        }
        wait_for_read_ahead(primed_bytes);
    }
    ~PrimedFile() { ::unlink(path_.c_str()); }
    PrimedFile(const PrimedFile&) = delete;
    PrimedFile& operator=(const PrimedFile&) = delete;

    static std::byte content(std::uint64_t offset) { return static_cast<std::byte>(offset * 7 + offset / 4096); }
    // Read-ahead that is under way comes to its end.
    static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
    [[nodiscard]] bool can_tell() const { return count_cached(fd_.get(), 0, 1) && reopen(fd_.get(), O_RDONLY | O_DIRECT); }
    [[nodiscard]] std::uint64_t cached_bytes() const { return count_cached(fd_.get(), 0, kFileBytes)->cached_bytes; }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    // A page counts as cached from when its read begins; reading it waits for that read. A descriptor of its own, advised
    // random, starts no read-ahead of its own.
    void wait_for_read_ahead(std::uint64_t primed_bytes) const {
        settle();
        if (!can_tell()) {
            return;
        }
        const Fd random(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
        ::posix_fadvise(random.get(), 0, 0, POSIX_FADV_RANDOM);
        std::vector<std::byte> bytes(128 * 1024);
        const std::uint64_t end = cached_bytes();
        for (std::uint64_t at = primed_bytes; at < end; at += bytes.size()) {
            EXPECT_GT(::pread(random.get(), bytes.data(), std::min<std::uint64_t>(bytes.size(), end - at), static_cast<off_t>(at)), 0);
        }
    }

    Fd fd_;
    std::string path_;
};

Receipt read_all(const PrimedFile& source, const char* page_cache, const char* threads) {
    const File file = File::open(source.path(), Mode::read, {{{"page_cache", page_cache}, {"num_threads", threads}}, {}});
    const Buffer buffer = Buffer::on_host(kFileBytes);
    Request request;
    request.target = {buffer.data(), kFileBytes, {}, false};
    Receipt receipt = file.read(request);
    const auto* const bytes = static_cast<const std::byte*>(buffer.data());
    for (std::uint64_t at = 0; at < kFileBytes; at += 1021) {
        if (bytes[at] != PrimedFile::content(at)) {
            ADD_FAILURE() << "wrong byte at " << at;
            break;
        }
    }
    PrimedFile::settle();
    return receipt;
}

class PartlyCached : public ::testing::TestWithParam<std::tuple<std::uint64_t, const char*>> {};

TEST_P(PartlyCached, BypassAddsNothingAndSaysWhereTheBytesWere) {
    const auto [primed, threads] = GetParam();
    const PrimedFile source(primed * kMiB);
    if (!source.can_tell()) {
        GTEST_SKIP() << "no cachestat or no O_DIRECT here";
    }
    const std::uint64_t before = source.cached_bytes();
    const Receipt receipt = read_all(source, "bypass", threads);
    const std::uint64_t after = source.cached_bytes();
    EXPECT_LE(after, before);  // the kernel may take pages back meanwhile
    EXPECT_EQ(receipt.source.page_cache_bytes + receipt.source.device_bytes, kFileBytes);
    EXPECT_LE(receipt.source.page_cache_bytes, before);
    // All but what lies so close to the rest that reading it would bring some of that in.
    const std::uint64_t margin = read_ahead_bytes(source.fd()) + kMiB;
    EXPECT_GE(receipt.source.page_cache_bytes + margin, after);
    EXPECT_FALSE(receipt.source.estimated);
}

TEST_P(PartlyCached, UseSaysWhereTheBytesWereWhenTheRequestBegan) {
    const auto [primed, threads] = GetParam();
    const PrimedFile source(primed * kMiB);
    if (!source.can_tell()) {
        GTEST_SKIP() << "no cachestat here";
    }
    const std::uint64_t before = source.cached_bytes();
    const Receipt receipt = read_all(source, "use", threads);
    EXPECT_EQ(receipt.source.page_cache_bytes + receipt.source.device_bytes, kFileBytes);
    EXPECT_NEAR(static_cast<double>(receipt.source.page_cache_bytes), static_cast<double>(before), 2e6);
}

INSTANTIATE_TEST_SUITE_P(Files, PartlyCached,
                         ::testing::Combine(::testing::Values(0, 3, 24), ::testing::Values("1", "2")),
                         [](const auto& its) {
                             return "Primed" + std::to_string(std::get<0>(its.param)) + "MiBThreads" + std::get<1>(its.param);
                         });

TEST(CachePicture, TellsStretchesAndCounts) {
    const PrimedFile source(40 * kMiB);
    if (!source.can_tell()) {
        GTEST_SKIP() << "no cachestat here";
    }
    constexpr std::uint64_t kStart = 12345;
    const auto picture = CachePicture::take(source.fd(), kStart, kFileBytes - kStart);
    ASSERT_TRUE(picture);
    std::uint64_t in_memory = 0;
    std::uint64_t at = kStart;
    while (at < kFileBytes) {
        const CachePicture::Stretch stretch = picture->stretch(at, kFileBytes);
        ASSERT_GT(stretch.end, at);
        in_memory += stretch.in_memory ? stretch.end - at : 0;
        at = stretch.end;
    }
    EXPECT_EQ(at, kFileBytes);
    const CachePicture::Cached cached = picture->cached_in(kStart, kFileBytes - kStart);
    EXPECT_TRUE(cached.exact);
    EXPECT_LE(in_memory, cached.bytes);
    EXPECT_GT(in_memory, 20 * kMiB);
    EXPECT_EQ(picture->cached_in(kStart, 1000).bytes, 1000U);
    EXPECT_EQ(picture->cached_in(kFileBytes - 1000, 1000).bytes, 0U);
    EXPECT_EQ(picture->stretch(kStart, kStart + 10).end, kStart + 10);
    EXPECT_FALSE(CachePicture::take(source.fd(), 0, 0));
}

TEST(CachePicture, OfAFileThatIsAllThereIsOneStretchUpToItsEnd) {
    const PrimedFile source(kFileBytes);
    if (!source.can_tell() || source.cached_bytes() != kFileBytes) {
        GTEST_SKIP() << "no cachestat here, or too little memory";
    }
    const auto picture = CachePicture::take(source.fd(), 100, kFileBytes - 100);
    EXPECT_TRUE(picture->stretch(100, kFileBytes).in_memory);
    EXPECT_EQ(picture->stretch(100, kFileBytes).end, kFileBytes);
}

}  // namespace
}  // namespace waybill
