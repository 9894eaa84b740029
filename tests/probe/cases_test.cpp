#include "probe/cases.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

using End = Tried::End;

CheckReport blocked_by(const char* id) {
    CheckReport report;
    report.cufile = {false, std::nullopt, Reason{id, "why"}};
    report.findings.push_back({"wsl", Severity::blocks_direct, "", "", "", ""});
    return report;
}

TEST(ProbeCases, ForetellWhatTheDriverAndTheFileWillDo) {
    CheckReport report;
    report.cufile.possible = true;
    EXPECT_EQ(foretold_driver_open(report), "opened");
    EXPECT_EQ(foretold_registration(report), "registered");
    EXPECT_EQ(foretold_cufile_read(report), "cufile-posix");
    report.direct.path = Path::p2pdma;
    EXPECT_EQ(foretold_cufile_read(report), "p2pdma");
    EXPECT_EQ(foretold_driver_open(blocked_by("udev-missing")), "opened");
    EXPECT_EQ(foretold_registration(blocked_by("udev-missing")), "refused");
    EXPECT_EQ(foretold_driver_open(blocked_by("cufile-json-bad-value")), "refused");
    EXPECT_EQ(foretold_driver_open(blocked_by("kernel-modules-unreadable")), "hung");
    EXPECT_EQ(foretold_driver_open(blocked_by("no-gpu")), "unknown");
    report = blocked_by("cufile-json-invalid");
    EXPECT_EQ(foretold_driver_open(report), "refused");
    report.machine.cufile.config.ends_process = true;
    EXPECT_EQ(foretold_driver_open(report), "crashed");
}

TEST(ProbeCases, ACrashOrAHangIsNoRefusal) {
    EXPECT_TRUE(step_of("cufile", "refused", {End::refused, "", "cufile-error", ""}).agrees);
    EXPECT_FALSE(step_of("cufile", "refused", {End::refused, "", "file-not-found", ""}).agrees);
    EXPECT_FALSE(step_of("cufile", "nvidia-fs", {End::done, "contradicted", "", ""}).agrees);
    EXPECT_TRUE(step_of("staged", "no-gpu", {End::refused, "", "no-gpu", ""}).agrees);
    for (const End end : {End::crashed, End::hung}) {
        for (const char* foretold : {"refused", "unknown", "opened"}) {
            EXPECT_FALSE(step_of("driver-open", foretold, {end, "", "", ""}).agrees) << foretold;
        }
    }
    EXPECT_TRUE(step_of("driver-open", "hung", {End::hung, "", "", ""}).agrees);
}

TEST(ProbeCases, ACrashOrAHangIsAFindingThatComesFirstAlsoWhereItWasForetold) {
    CheckReport report = blocked_by("kernel-modules-unreadable");
    add_step(report, step_of("driver-open", "hung", {End::hung, "", "", "did not return within 1.00 s"}), End::hung);
    EXPECT_EQ(report.findings.front().id, "probe-hung");
    EXPECT_EQ(report.findings.front().severity, Severity::blocks_cufile);
    add_step(report, step_of("cufile", "refused", {End::crashed, "", "", "ended by signal 11"}), End::crashed);
    EXPECT_EQ(report.findings.front().id, "probe-crashed");
    add_step(report, step_of("host", "host", {End::done, "host", "", ""}), End::done);
    add_step(report, step_of("staged", "staged", {End::refused, "", "cuda-error", ""}), End::refused);
    ASSERT_EQ(report.findings.size(), 4U);
    EXPECT_EQ(report.findings.back().id, "probe-disagrees");
    EXPECT_EQ(report.probe.size(), 4U);
}

CheckReport promising() {
    CheckReport report;
    report.direct = {true, Path::nvidia_fs, std::nullopt};
    report.cufile = {true, std::nullopt, std::nullopt};
    return report;
}

TEST(ProbeCases, AVerdictThatWasDisprovedIsNoVerdict) {
    for (const char* what : {"driver-open", "handle-registration", "cufile"}) {
        for (const auto& [end, id] : {std::pair{End::crashed, "probe-crashed"}, std::pair{End::hung, "probe-hung"}, std::pair{End::refused, "probe-disagrees"}}) {
            CheckReport report = promising();
            add_step(report, step_of(what, "opened", {end, "", "cufile-error", "came to nothing"}), end);
            for (const Verdict& verdict : {report.direct, report.cufile}) {
                EXPECT_FALSE(verdict.possible) << what;
                EXPECT_FALSE(verdict.path) << what;
                ASSERT_TRUE(verdict.first_failing) << what;
                EXPECT_EQ(verdict.first_failing->id, id) << what;
            }
        }
    }
    CheckReport report = promising();
    add_step(report, step_of("cufile", "nvidia-fs", {End::done, "cufile-posix", "", ""}), End::done);
    EXPECT_FALSE(report.direct.possible);
    EXPECT_TRUE(report.cufile.possible);
    report = blocked_by("udev-missing");
    add_step(report, step_of("cufile", "refused", {End::crashed, "", "", ""}), End::crashed);
    EXPECT_EQ(report.cufile.first_failing->id, "udev-missing") << "a no stays the no that it was";
    report = blocked_by("udev-missing");
    add_step(report, step_of("cufile", "refused", {End::done, "cufile-posix", "", ""}), End::done);
    EXPECT_TRUE(report.cufile.possible) << "and a read that came disproves it";
}

TEST(ProbeCases, WhatAgreesOrIsNoneOfCufilesChangesNoVerdict) {
    CheckReport report = promising();
    add_step(report, step_of("cufile", "nvidia-fs", {End::done, "nvidia-fs", "", ""}), End::done);
    add_step(report, step_of("staged", "staged", {End::crashed, "", "", ""}), End::crashed);
    EXPECT_TRUE(report.direct.possible);
    EXPECT_TRUE(report.cufile.possible);
}

}  // namespace
}  // namespace waybill
