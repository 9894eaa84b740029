#include "io/transfer_receipt.hpp"

#include <gtest/gtest.h>


namespace waybill {
namespace {

std::shared_ptr<const Route> route_by(EngineKind engine, Path path, const char* id) {
    Route route;
    route.engine = engine;
    route.expected_path = path;
    route.reasons = {{id, std::string("because of ") + id}};
    return std::make_shared<const Route>(route);
}

const auto kStaged = route_by(EngineKind::staged, Path::staged, "compat-on");

// Parts of these sizes, each a file of its own, by way of staging.
Consignment consign_parts(const std::vector<std::uint64_t>& sizes) {
    Consignment consignment;
    consignment.route = kStaged;
    consignment.settings = std::make_shared<const Settings>();
    consignment.many = sizes.size() > 1;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        consignment.files.push_back({nullptr, std::make_shared<const std::string>("file" + std::to_string(k)), {}});
    }
    for (const std::uint64_t size_bytes : sizes) {
        Part part;
        part.file = &consignment.files[consignment.parts.size()];
        part.asked_bytes = part.size_bytes = size_bytes;
        part.units = Units(size_bytes, 100, 100);
        consignment.parts.push_back(std::move(part));
    }
    (void)lay_out_units(consignment.parts);
    return consignment;
}

// All units, whole but for `broken`, of which 10 bytes arrived.
Tally tally_of(const Consignment& consignment, std::optional<std::uint64_t> broken = {}) {
    Tally tally;
    for (const Part& part : consignment.parts) {
        for (std::uint64_t k = 0; k < part.units.count(); ++k) {
            Outcome outcome;
            outcome.assignment = {&part.work, part.units.at(k)};
            outcome.moved_bytes = outcome.assignment.task.size_bytes;
            outcome.calls = 1;
            outcome.cached_bytes = outcome.moved_bytes;
            if (broken && part.first_unit + k == *broken) {
                outcome.moved_bytes = outcome.cached_bytes = 10;
                outcome.failure = {Failure::Kind::system, 5};
            }
            tally.add(outcome);
            ++tally.claimed_units;
        }
    }
    tally.threads = 1;
    return tally;
}

TEST(TransferReceipt, TellsWhatMovedByWhichWay) {
    Consignment consignment = consign_parts({1000});
    consignment.parts[0].work.file_offset = 77;
    const Receipt receipt = make_receipt(consignment, tally_of(consignment), {});
    EXPECT_EQ(*receipt.file, "file0");
    EXPECT_EQ(receipt.file_offset, 77U);
    EXPECT_EQ(receipt.moved_bytes, 1000U);
    EXPECT_FALSE(receipt.is_short);
    EXPECT_EQ(receipt.source.page_cache_bytes, 1000U);
    EXPECT_EQ(receipt.engine, EngineKind::staged);
    EXPECT_EQ(receipt.path, Path::staged);
    EXPECT_EQ(receipt.judgement, Judgement::consistent);
    EXPECT_TRUE(receipt.results.empty());
    EXPECT_TRUE(receipt.notes.empty());
    EXPECT_FALSE(receipt.direct_descriptor);
}

TEST(TransferReceipt, AnEndBeforeTheAskedSizeIsShort) {
    Consignment consignment = consign_parts({1000});
    consignment.parts[0].asked_bytes = 1500;
    const Receipt receipt = make_receipt(consignment, tally_of(consignment), {});
    EXPECT_EQ(receipt.asked_bytes, 1500U);
    EXPECT_TRUE(receipt.is_short);
    EXPECT_EQ(receipt.short_reason, "end-of-file");
}

TEST(TransferReceipt, AnErrorLeavesTheGoodRanges) {
    const Consignment consignment = consign_parts({1000});
    const Tally tally = tally_of(consignment, 3);
    Receipt receipt = make_receipt(consignment, tally, {});
    add_error(receipt, Error(ErrorCode::io_error, "broken"), consignment, tally);
    EXPECT_TRUE(receipt.is_short);
    EXPECT_EQ(receipt.short_reason, "io-error");
    EXPECT_EQ(receipt.good, (std::vector<ByteRange>{{0, 310}, {400, 600}}));
    EXPECT_EQ(receipt.moved_bytes, 310U);
}

TEST(TransferReceipt, AnErrorInTheFirstBytesLeavesNoPrefix) {
    const Consignment consignment = consign_parts({1000});
    Tally tally = tally_of(consignment);
    Outcome broken;
    broken.assignment = {&consignment.parts[0].work, consignment.parts[0].units.at(0)};
    broken.failure = {Failure::Kind::cuda, 700};
    tally.broken.push_back(broken);
    Receipt receipt = make_receipt(consignment, tally, {});
    add_error(receipt, Error(ErrorCode::cuda_error, "broken"), consignment, tally);
    EXPECT_EQ(receipt.good, (std::vector<ByteRange>{{100, 900}}));
    EXPECT_EQ(receipt.moved_bytes, 0U);
}

TEST(TransferReceipt, EachRequestHasItsResult) {
    const Consignment consignment = consign_parts({250, 1000, 100});
    const Receipt receipt = make_receipt(consignment, tally_of(consignment, 4), {});  // the second of the second file
    ASSERT_EQ(receipt.results.size(), 3U);
    EXPECT_FALSE(receipt.results[0].is_short);
    EXPECT_EQ(*receipt.results[1].file, "file1");
    EXPECT_EQ(receipt.results[1].moved_bytes, 110U);
    EXPECT_TRUE(receipt.results[1].is_short);
    EXPECT_EQ(receipt.results[2].moved_bytes, 100U);
}

TEST(TransferReceipt, ADirectCallThatWasRefusedIsTold) {
    const Consignment consignment = consign_parts({100});
    Tally tally = tally_of(consignment);
    tally.sum.direct_refused = true;
    EXPECT_NE(make_receipt(consignment, tally, {}).notes.at(0).find("refused O_DIRECT"), std::string::npos);
}

TEST(Requirement, IsMetByProofOfThePathAlone) {
    Consignment consignment = consign_parts({100});
    consignment.require = Require::staged;
    Receipt receipt = make_receipt(consignment, tally_of(consignment), {});
    EXPECT_EQ(requirement_error(consignment, receipt)->code(), ErrorCode::no_counters);
    receipt.judgement = Judgement::proved;
    EXPECT_FALSE(requirement_error(consignment, receipt));
    receipt.judgement = Judgement::contradicted;
    EXPECT_EQ(requirement_error(consignment, receipt)->code(), ErrorCode::contradicted);
    receipt.judgement = Judgement::proved;
    receipt.path = Path::mixed;
    EXPECT_EQ(requirement_error(consignment, receipt)->code(), ErrorCode::route_not_taken);
    receipt.moved_bytes = 0;  // nothing moved: there is nothing to prove
    EXPECT_FALSE(requirement_error(consignment, receipt));
    consignment.require = Require::none;
    receipt.judgement = Judgement::contradicted;
    EXPECT_FALSE(requirement_error(consignment, receipt));
}

}  // namespace
}  // namespace waybill
