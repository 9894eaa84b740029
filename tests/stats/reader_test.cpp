#include "stats/reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.hpp"
#include "stats/openmetrics.hpp"
#include "stats/processes.hpp"
#include "stats/segment.hpp"
#include "stats/segments.hpp"
#include "stats/stats_json.hpp"
#include "stats/text.hpp"
#include "stats/writer.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::int64_t own_pid() { return ::getpid(); }

TEST(Reader, AnotherMagicVersionOrSizeIsRefused) {
    for (StatsWord StatsSegment::*word : {&StatsSegment::magic, &StatsSegment::version, &StatsSegment::size_bytes}) {
        const TestSegment segment = make_segment();
        (*segment.*word).fetch_add(1);
        EXPECT_THROW((void)look_at(segment), Error);
    }
    const std::array<std::uint64_t, 2> small{kStatsMagic, kStatsVersion};
    EXPECT_THROW((void)read_stats(std::as_bytes(std::span(small)), 0), Error);
    EXPECT_THROW((void)read_stats({}, 0), Error);
}

TEST(Reader, RatesAreThoseBetweenTwoLooks) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(-1, Path::host, 1000, 1), false, {}, nullptr);
    const ProcessStats before = look_at(segment, 2'000'000'000);
    add_request(*segment, make_receipt(-1, Path::host, 500, 1), false, {}, nullptr);
    ProcessStats now = look_at(segment, 2'500'000'000);
    add_rates(now, before);
    EXPECT_DOUBLE_EQ(now.paths.at(0).now_bytes_per_s.value(), 1000.0);
    EXPECT_DOUBLE_EQ(now.paths.at(0).now_requests_per_s.value(), 2.0);
    EXPECT_DOUBLE_EQ(now.paths.at(0).life_bytes_per_s, 1000.0);
}

TEST(Reader, AnotherProcessUnderTheSameNumberGetsNoRates) {
    const TestSegment segment = make_segment();
    add_request(*segment, make_receipt(-1, Path::host, 1000, 1), false, {}, nullptr);
    ProcessStats before = look_at(segment);
    before.start_ns -= 1;
    ProcessStats now = look_at(segment);
    add_rates(now, before);
    EXPECT_FALSE(now.paths.at(0).now_bytes_per_s);
    before.start_ns += 2;
    add_rates(now, before);
    EXPECT_TRUE(now.paths.at(0).now_bytes_per_s) << "a request has ended that began before the first that had";
}

TEST(Reader, AHostileSegmentIsReadToItsEndInEveryForm) {
    for (const std::uint64_t low : {0, 1}) {  // sequences that never stand still, and some that do
        const TestSegment segment = make_segment();
        auto* words = reinterpret_cast<std::uint64_t*>(segment.get());
        for (std::size_t k = 3; k < sizeof(StatsSegment) / sizeof *words; ++k) {
            words[k] = ~low;
        }
        for (StatsWord& used : segment->used) {
            used.store(~std::uint64_t{0});
        }
        const ProcessStats stats = look_at(segment);
        EXPECT_EQ(stats.paths.size(), kStatsRows);
        EXPECT_FALSE(to_text(stats).empty());
        EXPECT_FALSE(stats_json(std::array{stats}, 0, {}, 2).empty());
        EXPECT_TRUE(openmetrics(std::array{stats}).ends_with("# EOF\n"));
    }
}

TEST(Reader, ControlCharactersOfAnotherProcessDoNotReachTheTerminal) {
    EXPECT_EQ(printable("a\x1b[2Jb\n"), "a?[2Jb?");
}

TEST(OpenMetrics, LabelsAreEscapedAndValidUtf8) {
    EXPECT_EQ(openmetrics_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    EXPECT_EQ(openmetrics_label("\xC3\xA9"), "\xC3\xA9");
    EXPECT_EQ(openmetrics_label("\xFFx\xC3"), "\xEF\xBF\xBDx\xEF\xBF\xBD");
    EXPECT_EQ(openmetrics_label("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

TEST(Segment, AProcessIsFoundWithWhatItCounted) {
    EXPECT_EQ(in_child([] {
                  count_request(make_receipt(-1, Path::host, 77, 5), false, {}, nullptr);
                  count_refused(Direction::write);
                  const ProcessStats stats = StatsView::of_process(own_pid()).look();
                  return stats.paths.at(0).moved_bytes == 77 && stats.refused[1] == 1 && stats.own_pid == stats.pid ? 7 : 1;
              }),
              7);
}

TEST(Segment, AProcessWithoutOneIsToldAsSuch) {
    EXPECT_EQ(in_child([] {
                  try {
                      (void)StatsView::of_process(own_pid());
                  } catch (const Error& error) {
                      return error.code() == ErrorCode::file_not_found ? 7 : 1;
                  }
                  return 2;
              }),
              7);
}

TEST(Segment, AChildCountsForItselfAndHidesItsParents) {
    EXPECT_EQ(in_child([] {
                  count_request(make_receipt(-1, Path::host, 77, 5), false, {}, nullptr);
                  const int status = in_child([] {
                      try {
                          (void)StatsView::of_process(own_pid());
                          return 1;  // its parent's, under its own number
                      } catch (const Error&) {
                      }
                      count_request(make_receipt(-1, Path::host, 5, 5), false, {}, nullptr);
                      return StatsView::of_process(own_pid()).look().paths.at(0).moved_bytes == 5 ? 7 : 2;
                  });
                  return status == 7 && StatsView::of_process(own_pid()).look().paths.at(0).moved_bytes == 77 ? 7 : 3;
              }),
              7);
}

TEST(Segment, NothingCanBeWrittenThroughTheDescriptor) {
    EXPECT_EQ(in_child([] {
                  count_request(make_receipt(-1, Path::host, 77, 5), false, {}, nullptr);
                  for (int number = 3; number < 64; ++number) {
                      char name[64] = {};
                      const std::string path = "/proc/self/fd/" + std::to_string(number);
                      if (::readlink(path.c_str(), name, sizeof name - 1) > 0 && std::string(name).find(kStatsName) != std::string::npos) {
                          const bool sealed = ::ftruncate(number, 0) != 0 && ::pwrite(number, "x", 1, 0) != 1 &&
                                              ::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, number, 0) == MAP_FAILED;
                          return sealed && (::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0 ? 7 : 1;
                      }
                  }
                  return 2;
              }),
              7);
}

// A process that has put a file of its own, which it can shrink, under our name.
TEST(Segment, AMemoryFileThatCanShrinkIsNotMapped) {
    EXPECT_EQ(in_child([] {
                  const int fd = ::memfd_create(kStatsName, MFD_CLOEXEC);
                  if (::ftruncate(fd, sizeof(StatsSegment)) != 0) {
                      return 1;
                  }
                  try {
                      (void)StatsView::of_process(own_pid());
                  } catch (const Error& error) {
                      return error.code() == ErrorCode::io_error ? 7 : 2;
                  }
                  return 3;
              }),
              7);
}

TEST(Segment, ASmallLimitOfFileSizesDoesNotEndTheProgram) {
    EXPECT_EQ(in_child([] {
                  const struct rlimit limit {4096, 4096};
                  ::setrlimit(RLIMIT_FSIZE, &limit);
                  count_request(make_receipt(-1, Path::host, 77, 5), false, {}, nullptr);
                  return own_segment() == nullptr ? 7 : 1;
              }),
              7);
}

}  // namespace
}  // namespace waybill
