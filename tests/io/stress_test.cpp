// Thousands of random requests by every engine while calls fail, come short, are interrupted, take long or are cancelled, and
// files shrink or close: every byte is right or reported, nothing hangs, and nothing is left behind.
//
// Faults of file calls come from tests/fakes/faulty_io.cpp, linked in here; faults of cuFile from its stand-in. Each case is a
// process of its own, since faults are set by the environment. WAYBILL_STRESS_SEED gives another run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "child.hpp"
#include "pool/slots.hpp"
#include "sanitizers.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kFileBytes = 3 * 1024 * 1024 + 321;
constexpr int kThreads = 4;
constexpr int kRequestsEach = kChildrenMayAllocate ? 60 : 20;
constexpr std::chrono::seconds kPatience{60};  // a case takes a second; more than this is a hang

// The byte of every file at an offset.
std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>((offset * 2654435761U) >> 13); }

struct Case {
    const char* name = "";
    SettingValues settings{};
    bool to_gpu = false;
    std::vector<std::pair<const char*, const char*>> faults{};  // of the environment
    bool may_fail = false;   // errors are to be expected, some at least
    bool shrinks = false;    // the file is truncated meanwhile
    bool closes = false;     // and closed
};

std::vector<Case> cases() {
    const std::vector<std::tuple<const char*, SettingValues, bool>> ways = {
        {"host", {}, false},
        {"host_bypass", {{"page_cache", "bypass"}}, false},
        {"staged", {{"compat_mode", "on"}, {"bounce_buffer_size", "64K"}, {"task_size", "100000"}, {"num_threads", "3"}}, true},
        {"staged_direct", {{"compat_mode", "on"}, {"page_cache", "direct"}, {"pinned_limit", "256K"}, {"bounce_buffer_size", "64K"}}, true},
        {"cufile", {{"compat_mode", "off"}, {"gds_threshold", "0"}, {"task_size", "256K"}, {"num_threads", "3"}}, true},
    };
    std::vector<Case> all;
    for (const auto& [name, settings, to_gpu] : ways) {
        const bool cufile = std::string(name) == "cufile";
        const auto add = [&, &name = name, &settings = settings, &to_gpu = to_gpu](Case extra) {
            extra.name = name;
            extra.settings = settings;
            extra.to_gpu = to_gpu;
            all.push_back(std::move(extra));
        };
        add({});
        add({.faults = {{"FAULTY_IO_SHORT", "3"}, {"FAULTY_IO_EINTR", cufile ? "0" : "5"}, {"FAULTY_IO_NO_DIRECT", "1"}}});
        add({.faults = {{"FAULTY_IO_DELAY_US", "200"}}});
        add({.faults = {{cufile ? "FAKE_CUFILE_READ_ERRNO" : "FAULTY_IO_READ_ERRNO", "5"}, {"FAULTY_IO_AFTER", "100"}}, .may_fail = true});
        add({.may_fail = true, .shrinks = true});
        add({.may_fail = true, .closes = true});
    }
    return all;
}

class StressFile {
public:
    StressFile() {
        char name[] = "/tmp/waybill_faulty_XXXXXX";  // the word by which faulty_io.cpp knows its files
        fd_ = ::mkstemp(name);
        path_ = name;
        std::vector<std::byte> bytes(kFileBytes);
        for (std::uint64_t k = 0; k < kFileBytes; ++k) {
            bytes[k] = byte_at(k);
        }
        if (::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
            ::_exit(90);
        }
        ::fsync(fd_);
    }
    ~StressFile() {
        ::close(fd_);
        ::unlink(path_.c_str());
    }
    void shrink() const { (void)!::ftruncate(fd_, kFileBytes / 3); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    int fd_ = -1;
    std::string path_;
};

// One thread's random requests. Returns how often something was wrong.
class Worker {
public:
    Worker(const Case& what, File& file, unsigned seed, std::atomic<int>& begun)
        : what_(what), file_(file), begun_(begun), random_(seed), buffer_(what.to_gpu ? Buffer::on_gpu(0, kFileBytes) : Buffer::on_host(kFileBytes)) {}

    void run() {
        for (int k = 0; k < kRequestsEach; ++k) {
            ++begun_;
            one();
        }
    }
    [[nodiscard]] int wrong() const { return wrong_; }
    [[nodiscard]] int failures() const { return failures_; }

private:
    void one() {
        Request request;
        const std::uint64_t size = random_() % 3 == 0 ? random_() % 6000 : random_() % (kFileBytes / 4);
        request.file_offset = random_() % (kFileBytes - size);
        request.size_bytes = size;
        request.target = {buffer_.data(), buffer_.size_bytes(), {}, false};
        request.target_offset = random_() % (kFileBytes - size + 1);
        clear(request);
        bool cancelled = false;
        try {
            switch (random_() % 4) {
                case 0: check(request, file_.read(request)); break;
                case 1: check(request, file_.pread(request).get()); break;
                case 2: {
                    Future future = file_.pread(request);
                    cancelled = future.cancel();
                    check(request, future.get());
                    break;
                }
                default: (void)file_.pread(request); break;  // dropped: waits or cancels, and touches nothing later
            }
        } catch (const Error& error) {
            const bool expected = cancelled && error.code() == ErrorCode::cancelled;
            if (!expected && !what_.may_fail) {
                complain(error.what());
            }
            failures_ += expected ? 0 : 1;
            if (error.receipt()) {
                check_good(request, *error.receipt());
            }
        }
    }

    void clear(const Request& request) {
        const std::vector<std::byte> marks(*request.size_bytes, std::byte{0});
        buffer_.copy_from_host(marks.data(), request.target_offset, marks.size());
    }
    void check(const Request& request, const Receipt& receipt) {
        if (receipt.is_short && !what_.shrinks) {
            complain("short without a reason");
        }
        check_range(request, 0, receipt.moved_bytes);
    }
    // What an error's receipt calls good is good.
    void check_good(const Request& request, const Receipt& receipt) {
        for (const ByteRange& range : receipt.good) {
            check_range(request, range.offset, range.bytes);
        }
    }
    void check_range(const Request& request, std::uint64_t offset, std::uint64_t bytes) {
        std::vector<std::byte> arrived(bytes);
        buffer_.copy_to_host(arrived.data(), request.target_offset + offset, bytes);
        for (std::uint64_t k = 0; k < bytes; ++k) {
            if (arrived[k] != byte_at(request.file_offset + offset + k)) {
                complain("wrong byte at " + std::to_string(offset + k) + " of " + std::to_string(*request.size_bytes));
                return;
            }
        }
    }
    void complain(const std::string& text) {
        ++wrong_;
        std::fprintf(stderr, "%s\n", text.c_str());
    }

    const Case& what_;
    File& file_;
    std::atomic<int>& begun_;
    std::mt19937_64 random_;
    Buffer buffer_;
    int wrong_ = 0;
    int failures_ = 0;  // errors that are no cancelled requests
};

std::ptrdiff_t descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

int run_threads(const Case& what, unsigned seed) {
    const StressFile source;
    File file = File::open(source.path(), Mode::read, {what.settings, {}});
    std::atomic<int> wrong{0};
    std::atomic<int> failures{0};
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < kThreads; ++k) {
        threads.emplace_back([&, k] {
            Worker worker(what, file, seed + k, begun);
            worker.run();
            wrong += worker.wrong();
            failures += worker.failures();
        });
    }
    if (what.shrinks || what.closes) {
        while (begun < kThreads * kRequestsEach / 3) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        what.shrinks ? source.shrink() : file.close();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (what.may_fail && failures == 0) {
        std::fprintf(stderr, "the fault never struck\n");
        return wrong + 1;
    }
    return wrong;
}

// The exit status of the child: 0, or what was wrong.
int run_case(const Case& what, unsigned seed) {
    for (const auto& [name, value] : what.faults) {
        ::setenv(name, value, 1);
    }
    int wrong = run_threads(what, seed);  // what is kept for later requests is there now
    // Tickets that no thread of the pool has looked at yet keep their transfers for a moment.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const std::ptrdiff_t before = descriptors();
    const std::uint64_t held = SlotPool::instance().held_bytes();
    wrong += run_threads(what, seed + kThreads);
    for (int k = 0; k < 300 && descriptors() > before; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (descriptors() > before) {
        std::fprintf(stderr, "descriptors: %td, before %td\n", descriptors(), before);
        return 2;
    }
    if (SlotPool::instance().held_bytes() > std::max<std::uint64_t>(held, 128 << 20)) {
        std::fprintf(stderr, "memory for slots has grown\n");
        return 3;
    }
    return wrong == 0 ? 0 : 1;
}

TEST(Stress, EveryByteIsRightOrReported) {
    const char* given = std::getenv("WAYBILL_STRESS_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
    for (const Case& what : cases()) {
        std::string faults;
        for (const auto& [name, value] : what.faults) {
            faults += std::string(" ") + name + "=" + value;
        }
        SCOPED_TRACE(std::string(what.name) + faults + (what.shrinks ? " shrinks" : "") + (what.closes ? " closes" : "") +
                     " WAYBILL_STRESS_SEED=" + std::to_string(seed));
        EXPECT_EQ(in_child([&] { return run_case(what, seed); }, kPatience), 0);
    }
}

}  // namespace
}  // namespace waybill
