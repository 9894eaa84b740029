// The model of layer 2 against what the real libraries did: grids/VERSION.csv, written by tests/real_cufile/piece_grid.py.
#include "plan/pieces.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kKiB = 1024;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, ',')) {
        cells.emplace_back(cell);
    }
    return cells;
}

void take(const std::string& cell, std::uint64_t unit, std::uint64_t& field) {
    if (cell != "-") {
        field = std::stoull(cell) * unit;
    }
}

// A row: file, threads, parallelism, threshold_kb, parallel_io, direct_io_kb, registered, then a cell for each size.
constexpr std::size_t kKeyCells = 7;

// A key that the file leaves out has the version's built-in value.
Execution execution_in(const std::vector<std::string>& row, int version) {
    Execution execution = built_in_execution(version);
    take(row[1], 1, execution.threads);
    take(row[2], 1, execution.parallelism);
    take(row[3], kKiB, execution.threshold_bytes);
    if (row[4] != "-") {
        execution.parallel_io = row[4] == "1";
    }
    take(row[5], kKiB, execution.direct_io_bytes);
    return execution;
}

int check_grid(const std::filesystem::path& path, int version) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> head = cells_of(line);
    int checked = 0;
    while (std::getline(in, line)) {
        const std::vector<std::string> row = cells_of(line);
        EXPECT_EQ(row.size(), head.size());
        const Execution execution = execution_in(row, version);
        for (std::size_t k = kKeyCells; k < row.size(); ++k) {
            if (row[k] == "died") {
                EXPECT_TRUE(execution.parallel_io && execution.threads > 0 && execution.parallelism == 0) << path << ": " << line;
                continue;
            }
            const bool registered = row[6] == "1";
            const Shares pieces = split_task(std::stoull(head[k]), execution, registered);
            const std::uint64_t reads = count_device_reads(pieces, execution, registered);
            EXPECT_EQ(fmt::format("{}x{}+{}/{}", pieces.count, pieces.size_bytes, pieces.last_bytes, reads), row[k])
                << path << ", size " << head[k] << ": " << line.substr(0, 40);
            ++checked;
        }
    }
    return checked;
}

TEST(Pieces, AgreeWithEveryRowThatWasMeasured) {
    std::set<int> versions;
    for (const auto& entry : std::filesystem::directory_iterator(WAYBILL_GRIDS)) {
        const std::string name = entry.path().stem();
        const auto numbers = split(name, '.');
        const int version = 1000 * std::stoi(std::string(numbers[0])) + 10 * std::stoi(std::string(numbers[1]));
        ASSERT_EQ(nearest_measured_version(version), version) << "a grid without a row of the model";
        versions.insert(version);
        EXPECT_GT(check_grid(entry.path(), nearest_measured_version(version)), 1000);
    }
    EXPECT_EQ(versions, (std::set<int>{1150, 1160, 1170, 1180, 1190, 1200}));
}

TEST(Pieces, CoverTheTaskForAnyKeys) {
    for (const bool registered : {false, true}) {
        for (std::uint64_t size = 1; size < (std::uint64_t{1} << 42); size = size * 7 / 3 + 1) {
            for (const std::uint64_t threshold : {0U, 1U, 4096U, 100000U, 8U << 20}) {
                const Execution execution{8, 8, threshold, true, 1 << 20};
                const Shares pieces = split_task(size, execution, registered);
                ASSERT_EQ((pieces.count - 1) * pieces.size_bytes + pieces.last_bytes, size);
                ASSERT_LE(pieces.count, 8U);
            }
        }
    }
}

TEST(Pieces, OfAVersionOutsideTheGridsAreTheNearestOnes) {
    EXPECT_EQ(nearest_measured_version(1000), 1150);
    EXPECT_EQ(nearest_measured_version(1155), 1150);
    EXPECT_EQ(nearest_measured_version(9990), 1200);
    EXPECT_EQ(nearest_measured_version(std::nullopt), 1200);
}

TEST(Pieces, OfNothingAreNone) {
    EXPECT_EQ(split_task(0, built_in_execution(1200), true), Shares{});
    EXPECT_EQ(count_device_reads({}, built_in_execution(1200), false), 0U);
}

}  // namespace
}  // namespace waybill
