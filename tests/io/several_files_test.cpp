// read_many over several files: all go by one engine, which every one of them can go by, each with its own alignment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "child.hpp"
#include "direct_machine.hpp"
#include "file_faults.hpp"
#include "waybill/waybill.hpp"

namespace {

constexpr unsigned kWideAlign = 64 * 1024;
std::atomic<ino_t> wide_inode{0};  // this file says that O_DIRECT wants kWideAlign

}  // namespace

// stx_dio_mem_align and stx_dio_offset_align lie where older headers have no name for them (include/uapi/linux/stat.h).
extern "C" int __real_statx(int folder, const char* path, int flags, unsigned mask, struct statx* state);
extern "C" int __wrap_statx(int folder, const char* path, int flags, unsigned mask, struct statx* state) {
    const int result = __real_statx(folder, path, flags, mask, state);
    if (result == 0 && state->stx_ino == wide_inode) {
        state->stx_mask |= 0x2000;
        std::memcpy(reinterpret_cast<char*>(state) + 0x98, &kWideAlign, sizeof kWideAlign);
        std::memcpy(reinterpret_cast<char*>(state) + 0x9c, &kWideAlign, sizeof kWideAlign);
    }
    return result;
}

namespace waybill {
namespace {

constexpr std::size_t kBytes = 2 * 1024 * 1024 + 333;

class OnDisk {
public:
    explicit OnDisk(unsigned char seed, const std::string& folder = "/tmp") : bytes_(kBytes) {
        for (std::size_t k = 0; k < bytes_.size(); ++k) {
            bytes_[k] = static_cast<std::byte>(k * 31 + k / 997 + seed);
        }
        std::string name = folder + "/waybill_several_XXXXXX";
        const int fd = ::mkstemp(name.data());
        path_ = name;
        EXPECT_EQ(::write(fd, bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
        ::fsync(fd);
        ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);  // cold: a hot file is staged whatever else holds
        struct stat state {};
        ::fstat(fd, &state);
        inode_ = state.st_ino;
        ::close(fd);
    }
    ~OnDisk() { ::unlink(path_.c_str()); }
    OnDisk(const OnDisk&) = delete;
    OnDisk& operator=(const OnDisk&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] ino_t inode() const { return inode_; }
    [[nodiscard]] bool holds(const Buffer& buffer) const {
        std::vector<std::byte> all(bytes_.size());
        buffer.copy_to_host(all.data(), 0, all.size());
        return all == bytes_;
    }

private:
    std::vector<std::byte> bytes_;
    std::string path_;
    ino_t inode_ = 0;
};

// A whole file each, in one call.
Receipt read_all(const std::vector<const OnDisk*>& sources, const SettingValues& settings, std::vector<Buffer>& targets,
                 bool to_gpu) {
    std::vector<File> files;
    files.reserve(sources.size());
    std::vector<FileRequest> requests;
    for (const OnDisk* const source : sources) {
        files.push_back(File::open(source->path(), Mode::read, {settings, {}}));
        targets.push_back(to_gpu ? Buffer::on_gpu(0, kBytes) : Buffer::on_host(kBytes));
        Request request;
        request.target = {targets.back().data(), kBytes, {}, false};
        requests.push_back({&files.back(), request});
    }
    return read_many(requests);
}

// Those in a child come first: once this process has initialised CUDA its children cannot.
TEST(SeveralFiles, OneThatCufileRefusesHasAllStaged) {
    const DirectMachine machine;
    EXPECT_EQ(in_child([&] {
                  ::setenv("FAKE_CUFILE_REGISTER_ERROR", "5027:1", 1);
                  const OnDisk first(1);
                  const OnDisk second(2);
                  std::vector<Buffer> targets;
                  const Receipt receipt = read_all({&first, &second}, machine.settings(), targets, true);
                  if (receipt.path != Path::staged || receipt.route->reasons.front().id != "cufile-refused") {
                      return 1;
                  }
                  return first.holds(targets[0]) && second.holds(targets[1]) ? 7 : 2;
              }), 7);
}

TEST(SeveralFiles, AreStagedWhenCufileFailsInTheMiddle) {
    const DirectMachine machine;
    EXPECT_EQ(in_child([&] {
                  ::setenv("FAKE_CUFILE_READ_ERRNO", "14:1", 1);
                  const OnDisk first(1);
                  const OnDisk second(2);
                  std::vector<Buffer> targets;
                  const Receipt receipt = read_all({&first, &second}, machine.settings(), targets, true);
                  if (receipt.path != Path::staged || receipt.route->reasons.front().id != "cufile-failed") {
                      return 1;
                  }
                  return first.holds(targets[0]) && second.holds(targets[1]) ? 7 : 2;
              }), 7);
}

TEST(SeveralFiles, AreStagedTogetherWhereOneCannotGoByCufileWhicheverIsNamedFirst) {
    const DirectMachine machine;
    for (const bool disk_first : {true, false}) {
        const OnDisk disk(1);
        const OnDisk in_memory(2, "/dev/shm");
        std::vector<Buffer> targets;
        const Receipt receipt = disk_first ? read_all({&disk, &in_memory}, machine.settings(), targets, true)
                                           : read_all({&in_memory, &disk}, machine.settings(), targets, true);
        EXPECT_EQ(receipt.path, Path::staged);
        EXPECT_EQ(receipt.route->reasons.front().id, "files-differ");
        EXPECT_TRUE((disk_first ? disk : in_memory).holds(targets[0]));
        EXPECT_TRUE((disk_first ? in_memory : disk).holds(targets[1]));
        const OnDisk alone(3);
        EXPECT_EQ(read_all({&alone}, machine.settings(), targets, true).path, Path::nvidia_fs);
    }
}

// A hot file and a cold one: what is told of the source is of each.
TEST(SeveralFiles, EachIsLookedForInThePageCache) {
    for (const bool hot_first : {true, false}) {
        const OnDisk hot(1);
        const OnDisk cold(2);
        std::vector<Buffer> targets;
        (void)read_all({&hot}, {}, targets, false);
        const Receipt receipt =
            hot_first ? read_all({&hot, &cold}, {}, targets, false) : read_all({&cold, &hot}, {}, targets, false);
        EXPECT_EQ(receipt.source.page_cache_bytes, kBytes) << hot_first;
        EXPECT_EQ(receipt.source.device_bytes, kBytes) << hot_first;
    }
}

TEST(SeveralFiles, EachIsReadByTheAlignmentThatItsOwnFileSystemWants) {
    const OnDisk narrow(1);
    const OnDisk wide(2, "/dev/shm");  // files of one mount share what it says
    for (const OnDisk* const file : {&narrow, &wide}) {
        const int fd = ::open(file->path().c_str(), O_RDONLY | O_DIRECT);
        if (fd < 0) {
            GTEST_SKIP() << "no O_DIRECT on " << file->path();
        }
        ::close(fd);
    }
    wide_inode = wide.inode();
    std::atomic<unsigned> refused{0};
    std::atomic<unsigned> narrow_reads{0};
    {
        const FileFaults faults([&](const FileCall& call) {
            struct stat state {};
            ::fstat(call.fd, &state);
            if (call.direct && state.st_ino == narrow.inode()) {
                narrow_reads += (call.offset + call.size_bytes) % kWideAlign != 0 ? 1 : 0;
            }
            const bool fits = call.offset % kWideAlign == 0 && call.size_bytes % kWideAlign == 0;
            if (call.direct && state.st_ino == wide.inode() && !fits) {
                ++refused;
                return FileFault{EINVAL};
            }
            return FileFault();
        });
        for (const bool narrow_first : {true, false}) {
            std::vector<Buffer> targets;
            const Receipt receipt = narrow_first
                                        ? read_all({&narrow, &wide}, {{"page_cache", "direct"}}, targets, false)
                                        : read_all({&wide, &narrow}, {{"page_cache", "direct"}}, targets, false);
            EXPECT_EQ(receipt.source.device_bytes, 2 * kBytes);
            EXPECT_TRUE((narrow_first ? narrow : wide).holds(targets[0]));
            EXPECT_TRUE((narrow_first ? wide : narrow).holds(targets[1]));
        }
    }
    EXPECT_EQ(refused, 0U);
    EXPECT_GT(narrow_reads, 0U);  // at the ends of units: not widened to the other file's alignment
    wide_inode = 0;
}

TEST(SeveralFiles, ADirectReadThatIsRefusedIsServedAndTold) {
    const OnDisk source(1);
    const FileFaults faults([](const FileCall& call) { return FileFault{call.direct ? EINVAL : 0}; });
    const File file = File::open(source.path(), Mode::read_write);
    Buffer target = Buffer::on_host(kBytes);
    Request request;
    request.target = {target.data(), kBytes, {}, false};
    Receipt receipt = file.read(request, {{"page_cache", "direct"}});
    EXPECT_EQ(receipt.moved_bytes, kBytes);
    EXPECT_TRUE(source.holds(target));
    EXPECT_FALSE(receipt.direct_descriptor);
    ASSERT_EQ(receipt.notes.size(), 1U);
    EXPECT_NE(receipt.notes.front().find("refused O_DIRECT"), std::string::npos);
    receipt = file.write(request, {{"direct_write", "true"}});
    EXPECT_EQ(receipt.moved_bytes, kBytes);
    ASSERT_EQ(receipt.notes.size(), 1U);
}

}  // namespace
}  // namespace waybill
