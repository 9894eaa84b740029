// Thousands of random requests on all engines, from several threads over shared files, while file calls fail, are short, late and
// interrupted, files are truncated and closed, and futures are cancelled and dropped: every byte is right or reported, nothing
// hangs, nothing is left. WAYBILL_STRESS_SEED repeats a run's requests, WAYBILL_STRESS_SECONDS lets it run longer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "direct_machine.hpp"
#include "file_faults.hpp"
#include "pool/slots.hpp"
#include "random_bytes.hpp"
#include "sanitizers.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

using Random = std::mt19937_64;
constexpr std::size_t kFileBytes = 4 * 1024 * 1024 + 321;
constexpr std::size_t kTargetBytes = 384 * 1024;
constexpr std::size_t kRegionBytes = 200'001;  // of the file that is written, for each thread
constexpr std::uint64_t kPinnedLimit = 2 * 1024 * 1024;
constexpr int kThreads = 6;
constexpr std::byte kMark{0xA5};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class TemporaryFile {
public:
    explicit TemporaryFile(const std::vector<std::byte>& bytes) {
        char name[] = "/tmp/waybill_stress_XXXXXX";
        fd_ = ::mkstemp(name);
        path_ = name;
        EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    ~TemporaryFile() {
        ::close(fd_);
        ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int fd() const { return fd_; }
    // What the file holds, by a call that no fault meets.
    [[nodiscard]] std::vector<std::byte> content(std::uint64_t offset, std::size_t size_bytes) const {
        std::vector<std::byte> bytes(size_bytes);
        const iovec part{bytes.data(), bytes.size()};
        ssize_t count = -1;
        do {
            count = ::preadv(fd_, &part, 1, static_cast<off_t>(offset));
        } while (count < 0 && errno == EINTR);
        bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        return bytes;
    }

private:
    int fd_ = -1;
    std::string path_;
};

struct Way {
    SettingValues settings;
    bool to_gpu;
};

std::vector<Way> all_ways(const DirectMachine& machine) {
    SettingValues automatic = machine.settings();
    automatic["gds_threshold"] = "4K";
    automatic["pinned_limit"] = "2MiB";
    automatic["bounce_buffer_size"] = "256K";
    return {
        {{}, false},
        {{{"page_cache", "direct"}, {"bounce_buffer_size", "64K"}, {"pinned_limit", "2MiB"}, {"direct_write", "true"}}, false},
        {{{"page_cache", "bypass"}, {"bounce_buffer_size", "128K"}, {"pinned_limit", "2MiB"}, {"num_threads", "2"}}, false},
        {{{"compat_mode", "on"}, {"bounce_buffer_size", "256K"}, {"pinned_limit", "2MiB"}}, true},
        {{{"compat_mode", "on"}, {"page_cache", "direct"}, {"bounce_buffer_size", "128K"}, {"pinned_limit", "2MiB"},
          {"num_threads", "3"}, {"direct_write", "true"}}, true},
        {{{"compat_mode", "on"}, {"bounce_buffer_size", "64K"}, {"pinned_limit", "256K"}, {"num_threads", "4"},
          {"task_size", "100000"}}, true},
        {{{"compat_mode", "off"}, {"gds_threshold", "0"}, {"task_size", "128K"}, {"num_threads", "3"}}, true},
        {automatic, true},
    };
}

const std::vector<std::byte>& marks() {
    static const std::vector<std::byte> all(kTargetBytes, kMark);
    return all;
}

// Memory of either kind, and what its requests asked for.
struct Place {
    Buffer buffer;
    std::uint64_t offset = 0;  // in the buffer
    std::uint64_t file_offset = 0;
    std::uint64_t size_bytes = 0;
    [[nodiscard]] Request request() const {
        Request request;
        request.file_offset = file_offset;
        request.size_bytes = size_bytes;
        request.target = {buffer.data(), buffer.size_bytes(), {}, false};
        request.target_offset = offset;
        return request;
    }
    void mark() { buffer.copy_from_host(marks().data(), 0, marks().size()); }
};

class Stress {
public:
    Stress(const DirectMachine& machine, std::uint64_t seed, std::chrono::milliseconds time)
        : seed_(seed), end_(std::chrono::steady_clock::now() + time), bytes_(random_bytes(kFileBytes, seed)), source_(bytes_),
          sink_(std::vector<std::byte>(kThreads * kRegionBytes)), ways_(all_ways(machine)) {
        for (const Way& way : ways_) {
            sources_.push_back(File::open(source_.path(), Mode::read, {way.settings, {}}));
            sinks_.push_back(File::open(sink_.path(), Mode::read_write, {way.settings, {}}));
        }
    }

    void run() {
        const FileFaults faults([this](const FileCall& call) { return fault(call); });
        std::vector<std::thread> threads;
        for (int k = 0; k < kThreads; ++k) {
            threads.emplace_back([this, k] { work(k); });
        }
        std::atomic<bool> stop{false};
        std::thread signals([&] {
            while (!stop) {
                for (std::thread& thread : threads) {
                    ::pthread_kill(thread.native_handle(), SIGUSR1);
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
            }
        });
        while (ended_ != kThreads) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        stop = true;
        signals.join();
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] std::uint64_t failures() const { return failures_; }
    [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

private:
    // Some faults are rare, so that most requests end well.
    FileFault fault(const FileCall& call) {
        Random::result_type dice = seed_ + calls_++ * 0x9E3779B97F4A7C15U;
        dice = (dice ^ dice >> 30) * 0xBF58476D1CE4E5B9U;
        dice = (dice ^ dice >> 27) * 0x94D049BB133111EBU;
        dice ^= dice >> 31;
        const auto percent = static_cast<unsigned>(dice % 100);
        const auto rare = static_cast<unsigned>(dice / 100 % 100);
        if (percent == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(rare * 20));
        } else if (percent < 3) {
            return {EINTR};
        } else if (percent < 10) {
            return {0, half_of(call)};
        } else if (percent < 12 && rare < 40) {
            return {call.write ? ENOSPC : EIO};
        } else if (percent < 16 && call.direct) {
            return {EINVAL};
        } else if (percent < 20 && call.nowait) {
            return {EAGAIN};
        }
        return {};
    }

    void report(const std::string& what) {
        const std::lock_guard lock(mutex_);
        if (wrong_.size() < 20) {
            wrong_.push_back(what);
        }
    }

    void work(int number) {
        Random random(seed_ * 31 + static_cast<unsigned>(number));
        std::vector<std::byte> written(kRegionBytes);  // this thread's region of the sink
        try {
            while (std::chrono::steady_clock::now() < end_ && wrong_count() == 0) {
                ++requests_;
                switch (random() % 8) {
                    case 0: write(number, random, written); break;
                    case 1: read_truncated(random); break;
                    case 2: read_closed(random); break;
                    case 3: read_several(random); break;
                    default: read(random);
                }
            }
        } catch (const std::exception& problem) {
            report(std::string("outside of a request: ") + problem.what());
        }
        ++ended_;
    }
    std::size_t wrong_count() {
        const std::lock_guard lock(mutex_);
        return wrong_.size();
    }

    static std::uint64_t some_size(Random& random, std::uint64_t most) {
        const std::uint64_t limit = random() % 4 == 0 ? most : std::min<std::uint64_t>(most, 40'000);
        return random() % (limit + 1);
    }

    Place some_place(Random& random, bool to_gpu, std::uint64_t file_bytes = kFileBytes) {
        Place place{to_gpu ? Buffer::on_gpu(0, kTargetBytes) : Buffer::on_host(kTargetBytes)};
        place.size_bytes = some_size(random, std::min<std::uint64_t>(kTargetBytes - 200, file_bytes));
        place.offset = random() % (kTargetBytes - place.size_bytes + 1);
        place.file_offset = random() % (file_bytes - place.size_bytes + 1);
        place.mark();
        return place;
    }

    // What is good of a request that ended: its receipt, or its error's.
    struct End {
        std::vector<ByteRange> good;
        std::optional<ErrorCode> error;
        bool known = true;  // false: dropped without looking
    };
    template <class Call>
    End end_of(std::uint64_t size_bytes, Call&& call) {
        try {
            const Receipt receipt = call();
            if (receipt.moved_bytes != size_bytes || receipt.is_short) {
                report(fmt::format("a receipt without an error, but {} of {} bytes", receipt.moved_bytes, size_bytes));
            }
            return {{{0, receipt.moved_bytes}}, {}};
        } catch (const Error& error) {
            ++failures_;
            switch (error.code()) {
                case ErrorCode::io_error:
                case ErrorCode::disk_full:
                case ErrorCode::cancelled:
                case ErrorCode::file_closed:
                case ErrorCode::file_truncated:
                case ErrorCode::offset_past_end:
                    break;
                default: report(std::string("unexpected error: ") + error.what());
            }
            return {error.receipt() ? error.receipt()->good : std::vector<ByteRange>{}, error.code()};
        }
    }

    // Any way to wait for a Future, or not to.
    End settle(Random& random, Future future, std::uint64_t size_bytes) {
        switch (random() % 6) {
            case 0: std::this_thread::sleep_for(std::chrono::microseconds(random() % 300)); [[fallthrough]];
            case 1: {
                const bool dropped = future.cancel();
                const End end = end_of(size_bytes, [&] { return future.get(); });
                if (dropped && !end.error) {
                    report("a request of which tasks were dropped ended well");
                }
                return end;
            }
            case 2: {
                future = Future();
                return {{}, {}, false};
            }
            case 3: {
                pollfd waited{future.event_descriptor(), POLLIN, 0};
                while (::poll(&waited, 1, -1) < 0 && errno == EINTR) {
                }
                if (!future.done()) {
                    report("its descriptor was readable before it was done");
                }
                break;
            }
            case 4: (void)future.wait_for(std::chrono::microseconds(random() % 200)); break;
            default: break;
        }
        return end_of(size_bytes, [&] { return future.get(); });
    }

    static std::string first_wrong(const std::vector<std::byte>& all, const Place& place, const std::vector<std::byte>& source,
                                   std::uint64_t from, std::uint64_t to) {
        std::uint64_t wrong = 0;
        std::uint64_t first = to;
        for (std::uint64_t k = from; k < to; ++k) {
            if (all[place.offset + k] != source[place.file_offset + k]) {
                first = std::min(first, k);
                ++wrong;
            }
        }
        return fmt::format("{} bytes that were told to be good are wrong, the first at offset {} of a file of {}: {} arrived",
                           wrong, place.file_offset + first, source.size(), std::to_integer<int>(all[place.offset + first]));
    }

    // `good` in bytes of this request, which is at `at` of its transfer.
    void check(const Place& place, const End& end, std::uint64_t at, const std::vector<std::byte>& source) {
        std::vector<std::byte> all(place.buffer.size_bytes());
        place.buffer.copy_to_host(all.data(), 0, all.size());
        for (const ByteRange& range : end.good) {
            const std::uint64_t from = std::max(range.offset, at);
            const std::uint64_t to = std::min(range.offset + range.bytes, at + place.size_bytes);
            if (from < to &&
                std::memcmp(&all[place.offset + from - at], &source[place.file_offset + from - at], to - from) != 0) {
                report(first_wrong(all, place, source, from - at, to - at));
            }
        }
        const std::uint64_t behind = place.offset + place.size_bytes;
        if (std::memcmp(all.data(), marks().data(), place.offset) != 0 ||
            std::memcmp(all.data() + behind, marks().data(), all.size() - behind) != 0) {
            report("memory around the request was touched");
        }
    }

    void read(Random& random) {
        const std::size_t way = random() % ways_.size();
        const Place place = some_place(random, ways_[way].to_gpu);
        const End end = random() % 2 == 0 ? end_of(place.size_bytes, [&] { return sources_[way].read(place.request()); })
                                          : settle(random, sources_[way].pread(place.request()), place.size_bytes);
        check(place, end, 0, bytes_);
        if (random() % 50 == 0) {
            ::posix_fadvise(source_.fd(), 0, 0, POSIX_FADV_DONTNEED);
        }
    }

    void read_several(Random& random) {
        const bool to_gpu = random() % 2 == 0;
        std::vector<Place> places;
        std::vector<FileRequest> requests;
        std::uint64_t total = 0;
        for (std::uint64_t count = random() % 5 + 1; places.size() < count;) {
            std::size_t way = random() % ways_.size();
            while (ways_[way].to_gpu != to_gpu) {
                way = random() % ways_.size();
            }
            places.push_back(some_place(random, to_gpu));
            requests.push_back({&sources_[way], places.back().request()});
            total += places.back().size_bytes;
        }
        const End end = random() % 2 == 0 ? end_of(total, [&] { return read_many(requests); })
                                          : settle(random, pread_many(requests), total);
        std::uint64_t at = 0;
        for (const Place& place : places) {
            check(place, end, at, bytes_);
            at += place.size_bytes;
        }
    }

    // The file is closed, by its name and by its owner, while the request is under way.
    void read_closed(Random& random) {
        const Way& way = ways_[random() % ways_.size()];
        const Place place = some_place(random, way.to_gpu);
        std::optional<File> file(File::open(source_.path(), Mode::read, {way.settings, {}}));
        std::thread closer;
        if (random() % 2 == 0) {
            closer = std::thread([&file] { file->close(); });
        }
        End end;
        try {
            Future future = file->pread(place.request());
            file->close();
            end = settle(random, std::move(future), place.size_bytes);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::file_closed) {
                report(std::string("unexpected error of a closed file: ") + error.what());
            }
        }
        if (closer.joinable()) {
            closer.join();
        }
        check(place, end, 0, bytes_);
    }

    // A smaller read than this may give zeros for what is cut off while it copies (src/io/truncation.hpp).
    void read_truncated(Random& random) {
        constexpr std::size_t kBytes = 400'000;
        constexpr std::uint64_t kVouchedBytes = 64 * 1024;
        const std::vector<std::byte> bytes(bytes_.begin(), bytes_.begin() + kBytes);
        const TemporaryFile source(bytes);
        const Way& way = ways_[random() % ways_.size()];
        const File file = File::open(source.path(), Mode::read, {way.settings, {}});
        Place place = some_place(random, way.to_gpu, kBytes);
        if (place.size_bytes < kVouchedBytes) {
            place.size_bytes = kVouchedBytes;
            place.offset = random() % (kTargetBytes - kVouchedBytes);
            place.file_offset = random() % (kBytes - kVouchedBytes);
        }
        End end;
        try {
            Future future = file.pread(place.request());
            (void)::ftruncate(source.fd(), static_cast<off_t>(random() % kBytes));
            end = settle(random, std::move(future), place.size_bytes);
        } catch (const Error& error) {
            report(std::string("unexpected error of a file that is truncated: ") + error.what());
        }
        check(place, end, 0, bytes);
    }

    void write(int number, Random& random, std::vector<std::byte>& written) {
        const std::size_t way = random() % ways_.size();
        Place place{ways_[way].to_gpu ? Buffer::on_gpu(0, kTargetBytes) : Buffer::on_host(kTargetBytes)};
        place.size_bytes = some_size(random, kRegionBytes);
        place.offset = random() % 3 == 0 ? 0 : random() % (kTargetBytes - place.size_bytes + 1);
        const std::uint64_t in_region = random() % (kRegionBytes - place.size_bytes + 1);
        const std::uint64_t region = static_cast<std::uint64_t>(number) * kRegionBytes;
        place.file_offset = region + in_region;
        const std::vector<std::byte> fresh = random_bytes(place.size_bytes, random());
        place.buffer.copy_from_host(fresh.data(), place.offset, fresh.size());
        Request request = place.request();
        request.sync = random() % 20 == 0;
        const End end = random() % 2 == 0 ? end_of(place.size_bytes, [&] { return sinks_[way].write(request); })
                                          : settle(random, sinks_[way].pwrite(request), place.size_bytes);
        std::vector<bool> good(place.size_bytes, false);
        for (const ByteRange& range : end.good) {
            std::fill_n(good.begin() + static_cast<std::ptrdiff_t>(range.offset), range.bytes, true);
        }
        const std::vector<std::byte> now = sink_.content(region, kRegionBytes);
        const std::uint64_t behind = in_region + place.size_bytes;
        bool right = now.size() == kRegionBytes && std::memcmp(now.data(), written.data(), in_region) == 0 &&
                     std::memcmp(now.data() + behind, written.data() + behind, kRegionBytes - behind) == 0;
        for (std::uint64_t k = 0; k < place.size_bytes && right; ++k) {
            right = now[in_region + k] == fresh[k] || (!good[k] && now[in_region + k] == written[in_region + k]);
        }
        if (!right) {
            report("a byte in the file is neither what was written nor what was there");
        }
        written = now;
    }

    std::uint64_t seed_;
    std::chrono::steady_clock::time_point end_;
    std::vector<std::byte> bytes_;
    TemporaryFile source_;
    TemporaryFile sink_;
    std::vector<Way> ways_;
    std::vector<File> sources_;
    std::vector<File> sinks_;
    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::uint64_t> requests_{0};
    std::atomic<std::uint64_t> failures_{0};
    std::atomic<int> ended_{0};
    std::mutex mutex_;
    std::vector<std::string> wrong_;
};

// Of the files here and of futures: all that requests may leave behind.
std::ptrdiff_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::count_if(begin(all), end(all), [](const std::filesystem::directory_entry& entry) {
        std::error_code ignored;  // one that is closed meanwhile
        const std::string target = std::filesystem::read_symlink(entry, ignored).string();
        return target.starts_with("/tmp/waybill_stress_") || target == "anon_inode:[eventfd]";
    });
}

TEST(Stress, EveryByteIsRightOrReportedAndNothingHangsOrIsLeft) {
    ::setenv("FAKE_CUFILE_SHORT", "7", 1);
    ::setenv("FAKE_CUDA_PINNED_LIMIT", "1500000", 1);  // less than the settings allow
    struct sigaction ignored {};
    ignored.sa_handler = [](int) {};  // no SA_RESTART: calls are interrupted
    ::sigaction(SIGUSR1, &ignored, nullptr);
    const std::uint64_t seed = number_from("WAYBILL_STRESS_SEED", std::random_device()());
    const std::chrono::milliseconds time(1000 * number_from("WAYBILL_STRESS_SECONDS", kSlowedDown ? 4 : 8));
    std::atomic<bool> done{false};
    std::thread watchdog([&] {
        const auto limit = std::chrono::steady_clock::now() + time + std::chrono::seconds(60);
        while (!done && std::chrono::steady_clock::now() < limit) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        if (!done) {
            std::fprintf(stderr, "a request hangs; WAYBILL_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
            std::abort();
        }
    });
    const DirectMachine machine;
    {
        Stress stress(machine, seed, time);
        stress.run();
        for (const std::string& wrong : stress.wrong()) {
            ADD_FAILURE() << wrong << "; WAYBILL_STRESS_SEED=" << seed;
        }
        EXPECT_GE(stress.requests(), 20U);  // however loaded the machine is
        EXPECT_GT(stress.failures(), 0U);
        RecordProperty("requests", static_cast<int>(stress.requests()));
        RecordProperty("failed", static_cast<int>(stress.failures()));
        std::printf("%llu requests, %llu failed as they should\n", static_cast<unsigned long long>(stress.requests()),
                    static_cast<unsigned long long>(stress.failures()));
    }
    for (int k = 0; k < 300 && descriptors() != 0; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));  // tickets that no thread has looked at keep their transfers
    }
    EXPECT_EQ(descriptors(), 0) << "; WAYBILL_STRESS_SEED=" << seed;
    EXPECT_LE(SlotPool::instance().held_bytes(), kPinnedLimit) << "; WAYBILL_STRESS_SEED=" << seed;
    // The whole limit can be had in one: nobody holds a slot.
    EXPECT_TRUE(SlotLease(SlotPool::instance().try_take(kPinnedLimit, kPinnedLimit, nullptr)))
        << "; WAYBILL_STRESS_SEED=" << seed;
    done = true;
    watchdog.join();
}

}  // namespace
}  // namespace waybill
