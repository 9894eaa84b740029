#include "base/child.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

using Kind = ChildEnd::Kind;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kLongNs = 20'000 * kMs;

ChildEnd shell(const std::string& script, std::uint64_t limit_ns = kLongNs) {
    return run_child("/bin/sh", {"-c", script}, limit_ns);
}

TEST(RunChild, TellsHowAChildEndedAndWhatItPrinted) {
    const ChildEnd end = shell("echo hello; echo unseen >&2; exit 3");
    EXPECT_EQ(end.kind, Kind::exited);
    EXPECT_EQ(end.number, 3);
    EXPECT_EQ(end.output, "hello\n");
    EXPECT_EQ(to_text(end, duration_text(kLongNs)), "failed (exit status 3)");
    EXPECT_EQ(to_text(shell("true"), duration_text(kLongNs)), "succeeded");
}

TEST(RunChild, TellsTheSignal) {
    const ChildEnd end = shell("kill -ABRT $$");
    EXPECT_EQ(end.kind, Kind::signalled);
    EXPECT_EQ(end.number, SIGABRT);
    EXPECT_EQ(to_text(end, duration_text(kLongNs)), "ended by signal 6 (Aborted)");
}

TEST(RunChild, EndsOneThatHangsWhateverBecameOfItsOutput) {
    for (const char* script : {"exec sleep 60", "exec sleep 60 >&-", "echo early; exec >&-; exec sleep 60"}) {
        const std::uint64_t start = now_ns();
        const ChildEnd end = shell(script, 200 * kMs);
        EXPECT_EQ(end.kind, Kind::out_of_time) << script;
        EXPECT_EQ(to_text(end, duration_text(200 * kMs)), "did not return within 200 ms");
        EXPECT_LT(now_ns() - start, 5'000 * kMs) << script;
    }
}

TEST(RunChild, DoesNotWaitForAGrandchildThatKeepsTheOutput) {
    const std::uint64_t start = now_ns();
    EXPECT_EQ(shell("sleep 8 & echo done").output, "done\n");
    EXPECT_LT(now_ns() - start, 6'000 * kMs);
}

TEST(RunChild, KeepsTheFirstMebibyteOfALongOutput) {
    const ChildEnd end = shell("head -c 3000000 /dev/zero");
    EXPECT_EQ(end.kind, Kind::exited);
    EXPECT_EQ(end.output.size(), std::size_t{1} << 20);
}

TEST(RunChild, SaysThatThereIsNoSuchProgram) {
    const ChildEnd end = run_child("/nowhere/program", {}, kLongNs);
    EXPECT_EQ(end.kind, Kind::not_started);
    EXPECT_EQ(to_text(end, duration_text(kLongNs)), "could not be started (ENOENT)");
}

}  // namespace
}  // namespace waybill
