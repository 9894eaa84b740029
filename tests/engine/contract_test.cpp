// What every engine owes, whatever its memory and its way through the page cache: one set of tests for all of them, over the
// stand-ins, with faults of the file calls below. To join it, add a row to all_ways().
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "engine/engine.hpp"
#include "file_faults.hpp"
#include "pool/slots.hpp"
#include "random_bytes.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kFileBytes = 1280 * 1024 + 777;
constexpr std::size_t kSlotBytes = 256 * 1024;
constexpr std::byte kMark{0xA5};

struct Way {
    const char* name;
    EngineKind engine;
    PageCacheUse page_cache = PageCacheUse::use;
    bool direct_write = false;
    bool one_slot = false;
    bool callers_stream = false;
    bool cufile_direct = false;
    bool registered = false;
    bool together = false;  // all tasks are submitted at once
    std::size_t slot_bytes = kSlotBytes;
};

std::vector<Way> all_ways() {
    return {
        {.name = "host", .engine = EngineKind::host},
        {.name = "host_bypass", .engine = EngineKind::host, .page_cache = PageCacheUse::bypass},
        {.name = "host_direct", .engine = EngineKind::host, .page_cache = PageCacheUse::direct, .direct_write = true},
        {.name = "staged", .engine = EngineKind::staged},
        {.name = "staged_bypass", .engine = EngineKind::staged, .page_cache = PageCacheUse::bypass},
        {.name = "staged_direct", .engine = EngineKind::staged, .page_cache = PageCacheUse::direct, .direct_write = true},
        {.name = "staged_one_slot", .engine = EngineKind::staged, .one_slot = true},
        {.name = "staged_on_the_callers_stream", .engine = EngineKind::staged, .callers_stream = true},
        {.name = "staged_together", .engine = EngineKind::staged, .together = true},
        {.name = "staged_direct_together", .engine = EngineKind::staged, .page_cache = PageCacheUse::direct, .direct_write = true, .together = true},
        {.name = "staged_in_steps", .engine = EngineKind::staged, .slot_bytes = 1024 * 1024},
        {.name = "staged_together_in_large_slots", .engine = EngineKind::staged, .together = true, .slot_bytes = 1024 * 1024},
        {.name = "host_together", .engine = EngineKind::host, .together = true},
        {.name = "cufile", .engine = EngineKind::cufile},
        {.name = "cufile_together", .engine = EngineKind::cufile, .together = true},
        {.name = "cufile_direct", .engine = EngineKind::cufile, .cufile_direct = true},
        {.name = "cufile_registered", .engine = EngineKind::cufile, .registered = true},
    };
}

std::ptrdiff_t descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

class EngineContract : public ::testing::TestWithParam<Way> {
public:
    [[nodiscard]] static bool needs_direct(const Way& way) {
        return way.page_cache != PageCacheUse::use || way.direct_write || way.cufile_direct;
    }
    [[nodiscard]] static bool is_cufile(const Way& way) { return way.engine == EngineKind::cufile; }

protected:
    void SetUp() override {
        if (GetParam().engine == EngineKind::cufile) {
            CufileOptions options;
            options.library = "libcufile.so.0";
            options.open_timeout_ns = 5'000'000'000;
            driver_ = &cufile_driver(options);
        }
        (void)cuda();
        (void)primary_context(0);
        held_before_ = SlotPool::instance().held_bytes();
        descriptors_before_ = descriptors();
        bytes_ = random_bytes(kFileBytes, 11);
        char name[] = "/tmp/waybill_contract_XXXXXX";
        buffered_ = Fd(::mkstemp(name));
        path_ = name;
        ASSERT_EQ(::write(buffered_.get(), bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
        direct_ = reopen(buffered_.get(), O_RDWR | O_DIRECT);
        random_ = reopen(buffered_.get(), O_RDONLY);
        memory_ = on_gpu() ? Buffer::on_gpu(0, kFileBytes + 2 * kEdge) : Buffer::on_host(kFileBytes + 2 * kEdge);
        mark_memory();
        if (needs_direct(GetParam()) && !direct_) {
            GTEST_SKIP() << "no O_DIRECT on /tmp";
        }
        if (driver_ != nullptr) {
            CufileDescription description;
            description.descriptor = GetParam().cufile_direct ? direct_.get() : buffered_.get();
            ASSERT_EQ(driver_->api.handle_register(&handle_, &description).code, kCufileSuccess);
        }
        if (GetParam().registered) {
            ASSERT_EQ(driver_->api.buffer_register(memory_.data(), memory_.size_bytes(), 0).code, kCufileSuccess);
        }
    }

    // Whatever happened: no descriptor is left, no slot is lost, and the pool holds no more than it may.
    void TearDown() override {
        if (GetParam().registered) {
            driver_->api.buffer_deregister(memory_.data());
        }
        if (handle_ != nullptr) {
            driver_->api.handle_deregister(handle_);
        }
        ::unlink(path_.c_str());
        memory_ = Buffer();
        buffered_.reset();
        direct_.reset();
        random_.reset();
        EXPECT_EQ(descriptors(), descriptors_before_);
        const std::uint64_t limit = limit_bytes();
        EXPECT_LE(SlotPool::instance().held_bytes(), std::max(held_before_, limit));
        // The whole limit can be had in one: nobody holds a slot.
        EXPECT_TRUE(SlotLease(SlotPool::instance().try_take(limit, limit, nullptr)));
    }

    [[nodiscard]] bool on_gpu() const { return GetParam().engine != EngineKind::host; }
    [[nodiscard]] std::uint64_t limit_bytes() const { return (GetParam().one_slot ? 1 : 4) * GetParam().slot_bytes; }

    void mark_memory() {
        const std::vector<std::byte> marks(memory_.size_bytes(), kMark);
        memory_.copy_from_host(marks.data(), 0, marks.size());
    }

    [[nodiscard]] Lading lading() const {
        Lading lading;
        lading.owner = find_owner(memory_.data());
        if (!on_gpu()) {
            lading.owner = {};
        }
        lading.slot_bytes = GetParam().slot_bytes;
        lading.pinned_limit = limit_bytes();
        lading.on_callers_stream = GetParam().callers_stream;
        lading.cufile = driver_ != nullptr ? &driver_->api : nullptr;
        return lading;
    }

    // Memory from `edge` on stands for the file from `offset` on.
    [[nodiscard]] Work work(Direction direction, std::uint64_t offset, std::size_t edge) const {
        Work work;
        work.direction = direction;
        work.file.buffered = buffered_.get();
        work.file.random = random_.get();
        work.file.direct = direct_.get();
        work.file.cufile = handle_;
        work.file_offset = offset;
        work.memory = static_cast<std::byte*>(memory_.data()) + edge;
        work.registered_base = GetParam().registered ? static_cast<std::byte*>(memory_.data()) : nullptr;
        work.page_cache = GetParam().page_cache;
        work.direct_write = GetParam().direct_write;
        if (direction == Direction::read && work.page_cache == PageCacheUse::bypass) {
            work.picture = CachePicture::take(work.file.buffered, offset, kFileBytes - offset);
        }
        return work;
    }

    // Moves these tasks by one engine, in order.
    std::vector<Outcome> move(const Work& work, const std::vector<Task>& tasks) const {
        const Lading lading = this->lading();
        const CurrentContext current(lading.owner.context);
        const std::unique_ptr<Engine> engine = make_engine(GetParam().engine, work.direction, lading);
        std::vector<Outcome> outcomes;
        std::vector<Assignment> assignments;
        for (const Task& task : tasks) {
            assignments.push_back({&work, task});
        }
        const std::size_t turn = GetParam().together ? assignments.size() : 1;
        for (std::size_t from = 0; from < assignments.size(); from += turn) {
            engine->submit(std::span(assignments).subspan(from, turn));
            if (GetParam().callers_stream) {
                engine->reap(outcomes, true);
            }
        }
        engine->reap(outcomes, true);
        EXPECT_EQ(outcomes.size(), tasks.size());
        std::sort(outcomes.begin(), outcomes.end(),
                  [](const Outcome& a, const Outcome& b) { return a.assignment.task.offset < b.assignment.task.offset; });
        return outcomes;
    }

    [[nodiscard]] std::vector<std::byte> memory() const {
        std::vector<std::byte> all(memory_.size_bytes());
        memory_.copy_to_host(all.data(), 0, all.size());
        return all;
    }
    [[nodiscard]] std::vector<std::byte> file() const {
        std::vector<std::byte> all(static_cast<std::size_t>(std::filesystem::file_size(path_)));
        const iovec whole{all.data(), all.size()};
        EXPECT_EQ(::preadv(buffered_.get(), &whole, 1, 0), static_cast<ssize_t>(all.size()));  // a call that no fault meets
        return all;
    }

    // What the outcomes call good is the file's; what lies outside of all tasks is as it was.
    void expect_good(const Work& work, const std::vector<Outcome>& outcomes, std::size_t edge) const {
        const std::vector<std::byte> all = memory();
        std::uint64_t from = 0;
        for (const Outcome& outcome : outcomes) {
            const Task& task = outcome.assignment.task;
            const auto place = all.begin() + static_cast<std::ptrdiff_t>(edge + task.offset);
            EXPECT_TRUE(std::equal(place, place + static_cast<std::ptrdiff_t>(outcome.moved_bytes),
                                   bytes_.begin() + static_cast<std::ptrdiff_t>(work.file_offset + task.offset)))
                << "task at " << task.offset;
            EXPECT_EQ(outcome.cached_bytes + outcome.device_bytes + outcome.unknown_bytes, outcome.moved_bytes);
            EXPECT_LE(outcome.direct_bytes, outcome.moved_bytes);
            expect_marks(all, from, edge + task.offset);
            from = edge + task.offset + task.size_bytes;
        }
        expect_marks(all, from, all.size());
    }
    static void expect_marks(const std::vector<std::byte>& all, std::uint64_t from, std::uint64_t to) {
        static const std::vector<std::byte> marks(kFileBytes + 2 * kEdge, kMark);
        EXPECT_EQ(std::memcmp(all.data() + from, marks.data(), to - from), 0) << "between " << from << " and " << to;
    }

    // Tasks of a slot's size and a rest.
    [[nodiscard]] static std::vector<Task> tasks_of(std::uint64_t size_bytes, std::uint64_t each = GetParam().slot_bytes) {
        std::vector<Task> tasks;
        for (std::uint64_t at = 0; at < size_bytes; at += each) {
            tasks.push_back({at, std::min(each, size_bytes - at)});
        }
        return tasks;
    }

    static constexpr std::size_t kEdge = 8192;
    const CufileDriver* driver_ = nullptr;
    CufileHandle handle_ = nullptr;
    std::vector<std::byte> bytes_;
    std::string path_;
    Fd buffered_;
    Fd direct_;
    Fd random_;
    Buffer memory_;
    std::ptrdiff_t descriptors_before_ = 0;
    std::uint64_t held_before_ = 0;
};

class DirectContract : public EngineContract {};  // of the ways that use O_DIRECT
class CufileContract : public EngineContract {};

TEST_P(EngineContract, OddOffsetsSizesAndPointersArriveWhole) {
    std::mt19937_64 random(5);
    for (int k = 0; k < 12; ++k) {
        mark_memory();
        const std::uint64_t offset = random() % 100'000;
        const std::size_t edge = random() % kEdge;
        const Work read = work(Direction::read, offset, edge);
        std::vector<Task> tasks;
        for (std::uint64_t at = random() % 3; at < 1'000'000;) {
            const std::uint64_t size = k % 3 == 0 ? random() % 4000 + 1 : random() % kSlotBytes + 1;
            tasks.push_back({at, size});
            at += size + random() % 5000;
            if (tasks.size() > 20) {
                break;
            }
        }
        const std::vector<Outcome> outcomes = move(read, tasks);
        for (const Outcome& outcome : outcomes) {
            EXPECT_FALSE(outcome.failure);
            EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
        }
        expect_good(read, outcomes, edge);
    }
}

TEST_P(EngineContract, ShortAndInterruptedReadsAreContinued) {
    std::atomic<unsigned> calls{0};
    const FileFaults faults([&](const FileCall& call) {
        const unsigned now = ++calls;
        return FileFault{now % 3 == 0 ? EINTR : 0, now % 2 == 0 ? half_of(call) : call.size_bytes};
    });
    const Work read = work(Direction::read, 4097, 13);
    const std::vector<Outcome> outcomes = move(read, tasks_of(1'000'001));
    for (const Outcome& outcome : outcomes) {
        EXPECT_FALSE(outcome.failure) << outcome.failure.value;
        EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
    }
    expect_good(read, outcomes, 13);
}

// From some place in the file on the disk is broken: what lies before it is good, each later task fails by itself.
TEST_P(EngineContract, AnErrorInTheMiddleLeavesTheGoodPrefix) {
    constexpr std::uint64_t kBroken = 600'000;
    const FileFaults faults([](const FileCall& call) {
        constexpr std::uint64_t kPage = kBroken / 4096 * 4096;
        return call.offset >= kPage ? FileFault{EIO} : FileFault{0, std::min<std::size_t>(call.size_bytes, kPage - call.offset)};
    });
    const Work read = work(Direction::read, 1000, 21);
    const std::vector<Outcome> outcomes = move(read, tasks_of(1'000'001));
    unsigned broken = 0;
    for (const Outcome& outcome : outcomes) {
        const std::uint64_t from = read.file_offset + outcome.assignment.task.offset;
        if (from + outcome.assignment.task.size_bytes <= kBroken / 4096 * 4096) {
            EXPECT_FALSE(outcome.failure);
            EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
        } else {
            ++broken;
            EXPECT_EQ(outcome.failure.kind, GetParam().engine == EngineKind::cufile ? Failure::Kind::cufile_system : Failure::Kind::system);
            EXPECT_EQ(outcome.failure.value, EIO);
            EXPECT_LE(from + outcome.moved_bytes, std::max(from, kBroken));
        }
    }
    EXPECT_GE(broken, 1U);
    expect_good(read, outcomes, 21);
}

TEST_P(EngineContract, TheEndOfTheFileIsToldWithWhatThereIs) {
    const Work read = work(Direction::read, kFileBytes - 300'001, 7);
    const std::vector<Outcome> outcomes = move(read, tasks_of(400'000, 200'000));
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_FALSE(outcomes[0].failure);
    EXPECT_EQ(outcomes[1].failure.kind, Failure::Kind::end_of_file);
    EXPECT_EQ(outcomes[1].moved_bytes, 100'001U);
    expect_good(read, outcomes, 7);
}

TEST_P(EngineContract, ATruncationMeanwhileIsTheEndOfTheFile) {
    std::atomic<bool> truncated{false};
    const FileFaults faults([&](const FileCall& call) {
        if (call.offset + call.size_bytes > 500'000 && !truncated.exchange(true)) {
            EXPECT_EQ(::ftruncate(buffered_.get(), 128 * 4096), 0);
        }
        return FileFault();
    });
    const Work read = work(Direction::read, 0, 0);
    const std::vector<Outcome> outcomes = move(read, tasks_of(1'000'000, 100'000));
    for (const Outcome& outcome : outcomes) {
        const bool before = outcome.assignment.task.offset + outcome.assignment.task.size_bytes <= 500'000;
        EXPECT_EQ(outcome.failure.kind, before ? Failure::Kind::none : Failure::Kind::end_of_file)
            << outcome.assignment.task.offset;
    }
    expect_good(read, outcomes, 0);
}

// A file system may refuse the call though it took the flag: open(2).
TEST_P(DirectContract, ACallThatIsRefusedGoesThroughThePageCache) {
    const FileFaults faults([](const FileCall& call) { return FileFault{call.direct ? EINVAL : 0}; });
    if (GetParam().page_cache == PageCacheUse::bypass) {
        (void)::fsync(buffered_.get());
        ::posix_fadvise(buffered_.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    const Work read = work(Direction::read, 5000, 3);
    std::vector<Outcome> outcomes = move(read, tasks_of(1'000'001));
    for (const Outcome& outcome : outcomes) {
        if (GetParam().engine == EngineKind::cufile) {  // cuFile's own; above it `auto` stages instead
            EXPECT_EQ(outcome.failure.value, EINVAL);
            continue;
        }
        EXPECT_FALSE(outcome.failure) << outcome.failure.value;
        EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
        EXPECT_EQ(outcome.direct_bytes, 0U);
        EXPECT_TRUE(outcome.direct_refused);
    }
    expect_good(read, outcomes, 3);
}

TEST_P(EngineContract, WritesOfAnyShapeArriveWholeThoughCallsAreShortAndInterrupted) {
    std::mt19937_64 random(9);
    std::atomic<unsigned> calls{0};
    for (int k = 0; k < 6; ++k) {
        const FileFaults faults([&](const FileCall& call) {
            const unsigned now = ++calls;
            return FileFault{now % 3 == 0 ? EINTR : 0, now % 2 == 0 ? half_of(call) : call.size_bytes};
        });
        const std::vector<std::byte> fresh = random_bytes(memory_.size_bytes(), random());
        memory_.copy_from_host(fresh.data(), 0, fresh.size());
        const std::uint64_t offset = random() % 100'000;
        const std::size_t edge = k % 2 == 0 ? 0 : random() % kEdge;
        const std::uint64_t size = random() % 900'000 + 1;
        const std::vector<std::byte> before = file();
        for (const Outcome& outcome : move(work(Direction::write, offset, edge), tasks_of(size))) {
            EXPECT_FALSE(outcome.failure) << outcome.failure.value;
            EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
        }
        std::vector<std::byte> expected = before;
        std::memcpy(&expected[offset], &fresh[edge], size);
        EXPECT_TRUE(file() == expected) << k;
    }
}

TEST_P(EngineContract, AFullDiskLeavesTheGoodPrefixInTheFile) {
    constexpr std::uint64_t kFull = 500'000;
    const std::vector<std::byte> fresh = random_bytes(memory_.size_bytes(), 77);
    memory_.copy_from_host(fresh.data(), 0, fresh.size());
    std::vector<Outcome> outcomes;
    const Work write = work(Direction::write, 100, 0);
    {
        const FileFaults faults([](const FileCall& call) {
            constexpr std::uint64_t kPage = kFull / 4096 * 4096;
            const bool full = call.write && call.offset >= kPage;
            return full ? FileFault{ENOSPC} : FileFault{0, std::min<std::size_t>(call.size_bytes, kPage - call.offset)};
        });
        outcomes = move(write, tasks_of(1'000'000));
    }
    const std::vector<std::byte> after = file();
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + 100, bytes_.begin()));
    unsigned broken = 0;
    for (const Outcome& outcome : outcomes) {
        const Task& task = outcome.assignment.task;
        const auto place = after.begin() + static_cast<std::ptrdiff_t>(100 + task.offset);
        EXPECT_TRUE(std::equal(place, place + static_cast<std::ptrdiff_t>(outcome.moved_bytes),
                               fresh.begin() + static_cast<std::ptrdiff_t>(task.offset)));
        if (outcome.failure) {
            ++broken;
            EXPECT_EQ(outcome.failure.value, ENOSPC);
        } else {
            EXPECT_EQ(outcome.moved_bytes, task.size_bytes);
        }
    }
    EXPECT_GE(broken, 1U);
}

TEST_P(EngineContract, AWriteThatTakesNothingIsNoEndOfTheFile) {
    constexpr std::uint64_t kStop = 60 * 4096;
    std::vector<Outcome> outcomes;
    {
        const FileFaults faults([](const FileCall& call) {
            const std::uint64_t room = call.offset < kStop ? kStop - call.offset : 0;
            return FileFault{0, call.write ? static_cast<std::size_t>(room) : call.size_bytes};
        });
        outcomes = move(work(Direction::write, 0, 0), tasks_of(500'000, 50'000));
    }
    for (const Outcome& outcome : outcomes) {
        const std::uint64_t end = outcome.assignment.task.offset + outcome.assignment.task.size_bytes;
        EXPECT_EQ(outcome.failure.kind, end <= kStop ? Failure::Kind::none : Failure::Kind::nothing_written) << end;
    }
}

// A transfer that is cancelled, or whose thread fails, drops its engine with tasks under way.
TEST_P(EngineContract, OneThatIsDroppedTouchesItsMemoryNoMore) {
    const Work read = work(Direction::read, 0, 0);
    for (int k = 0; k < 10; ++k) {
        {
            const Lading lading = this->lading();
            const CurrentContext current(lading.owner.context);
            const std::unique_ptr<Engine> engine = make_engine(GetParam().engine, Direction::read, lading);
            for (const Task& task : tasks_of(GetParam().callers_stream ? kSlotBytes : 3 * kSlotBytes)) {
                const Assignment assignment{&read, task};
                engine->submit({&assignment, 1});
            }
        }
        mark_memory();
        if (k % 5 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));  // later than the stand-in's copies come
        }
        const std::vector<std::byte> all = memory();
        expect_marks(all, 0, all.size());
    }
}

TEST_P(CufileContract, FaultsOfItsOwnAreToldByTheirCode) {
    const Work read = work(Direction::read, 0, 0);
    ::setenv("FAKE_CUFILE_READ_ERROR", "5030", 1);
    std::vector<Outcome> outcomes = move(read, tasks_of(500'000));
    ::unsetenv("FAKE_CUFILE_READ_ERROR");
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.failure.kind, Failure::Kind::cufile);
        EXPECT_EQ(outcome.failure.value, -5030);
        EXPECT_EQ(outcome.moved_bytes, 0U);
    }
    ::setenv("FAKE_CUFILE_READ_ERROR", "1", 1);  // -1, and errno as it was
    outcomes = move(read, tasks_of(500'000));
    ::unsetenv("FAKE_CUFILE_READ_ERROR");
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.failure.kind, Failure::Kind::cufile);
        EXPECT_EQ(outcome.failure.value, -1);
    }
    ::setenv("FAKE_CUFILE_SHORT", "2", 1);
    outcomes = move(read, tasks_of(500'000));
    ::unsetenv("FAKE_CUFILE_SHORT");
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.moved_bytes, outcome.assignment.task.size_bytes);
    }
    expect_good(read, outcomes, 0);
}

std::vector<Way> ways_that(bool (*hold)(const Way&)) {
    std::vector<Way> ways = all_ways();
    std::erase_if(ways, [hold](const Way& way) { return !hold(way); });
    return ways;
}

std::string name_of(const ::testing::TestParamInfo<Way>& way) { return way.param.name; }

INSTANTIATE_TEST_SUITE_P(Ways, EngineContract, ::testing::ValuesIn(all_ways()), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, DirectContract, ::testing::ValuesIn(ways_that(&EngineContract::needs_direct)), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, CufileContract, ::testing::ValuesIn(ways_that(&EngineContract::is_cufile)), name_of);

}  // namespace
}  // namespace waybill
