// What becomes of bytes that cuFile drops under compat_mode=auto: they are staged, as if that had been the route.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "child.hpp"
#include "direct_machine.hpp"
#include "file_faults.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::size_t kBytes = 4 << 20;

// A file of one value, not in the page cache.
class ColdFile {
public:
    ColdFile() {
        char name[] = "/tmp/waybill_instead_XXXXXX";
        const Fd fd(::mkstemp(name));
        path_ = name;
        const std::vector<std::byte> bytes(kBytes, std::byte{5});
        EXPECT_EQ(::write(fd.get(), bytes.data(), kBytes), static_cast<ssize_t>(kBytes));
        ::fsync(fd.get());
        ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    ~ColdFile() { ::unlink(path_.c_str()); }
    ColdFile(const ColdFile&) = delete;
    ColdFile& operator=(const ColdFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

Request whole(const Buffer& buffer) {
    Request request;
    request.target = {buffer.data(), buffer.size_bytes(), {}, false};
    return request;
}

TEST(StagedInstead, AWriteOfWhichCufileTakesNothing) {
    const DirectMachine machine;
    EXPECT_EQ(in_child([&] {
                  const ColdFile sink;
                  const FileFaults faults([](const FileCall& call) {
                      return FileFault{0, call.write && call.direct ? std::size_t{0} : call.size_bytes};
                  });
                  const File file = File::open(sink.path(), Mode::read_write, {machine.settings(), {}});
                  const Receipt receipt = file.write(whole(Buffer::on_gpu(0, kBytes)));
                  if (receipt.path != Path::staged || receipt.route->reasons.front().id != "cufile-failed") {
                      return 1;
                  }
                  return receipt.moved_bytes == kBytes ? 7 : 2;
              }), 7);
}

// The machine says that no memory is free: a staged read of a cold file goes past the page cache.
TEST(StagedInstead, AReadThatHasThePageCacheUseAndTheThreadsOfAStagedOne) {
    const DirectMachine machine;
    for (const char* fault : {"FAKE_CUFILE_REGISTER_ERROR=5027", "FAKE_CUFILE_READ_ERROR=5030"}) {
        EXPECT_EQ(in_child([&] {
                      ::putenv(const_cast<char*>(fault));
                      const ColdFile source;
                      SettingValues settings = machine.settings();
                      settings["num_threads"] = "8";
                      settings["bounce_buffer_size"] = "256KiB";
                      settings["pinned_limit"] = "512KiB";  // two slots: one thread's
                      settings["task_size"] = "512KiB";
                      const Receipt receipt =
                          File::open(source.path(), Mode::read, {settings, {}}).read(whole(Buffer::on_gpu(0, kBytes)));
                      if (receipt.path != Path::staged || receipt.moved_bytes != kBytes) {
                          return 1;
                      }
                      if (receipt.route->reasons.back().id != "page-cache-bypass" || !receipt.direct_descriptor) {
                          return 2;
                      }
                      return receipt.threads == 1 ? 7 : 3;
                  }), 7)
            << fault;
    }
}

}  // namespace
}  // namespace waybill
