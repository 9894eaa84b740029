#include "settings/cufile_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "settings/cufile_value_check.hpp"

namespace waybill {
namespace {

using Kind = CufileProblem::Kind;

std::vector<CufileEntry> one(const std::string& key, const std::string& value, const std::string& type) { return {{key, value, type, "/f", 3, 5}}; }

const CufileValue& value_of(const CufileReading& reading, std::string_view key) {
    return *std::find_if(reading.values.begin(), reading.values.end(), [&](const CufileValue& value) { return value.key->path == key; });
}

TEST(CufileKeys, AreNamedOnceAndHaveBuiltInValuesThatAreAccepted) {
    std::set<std::string_view> paths;
    for (const CufileKey& key : cufile_keys()) {
        EXPECT_TRUE(paths.insert(key.path).second) << key.path;
        EXPECT_FALSE(key.meaning.empty()) << key.path;
        EXPECT_TRUE(key.variable.empty() || find_cufile_variable(key.variable) != nullptr) << key.path;
        for (const int version : {1150, 1160, 1170, 1180, 1190, 1200}) {
            const std::string text(built_in_of(key, version));
            const std::string type = text == "true" || text == "false" ? "boolean" : text[0] == '"' ? "text" : text[0] == '[' ? "list"
                                     : text[0] == '{' ? "object" : text == "null" ? "null" : "integer";
            EXPECT_EQ(check_cufile_value(key, {std::string(key.path), text, type, {}, 0, 0}, version).taken, CufileTaken::yes) << key.path;
        }
    }
    for (const CufileVariable& variable : cufile_variables()) {
        EXPECT_TRUE(variable.key.empty() || find_cufile_key(variable.key) != nullptr) << variable.name;
    }
}

TEST(CufileValues, WhatNoFileHasIsBuiltInAndDiffersByVersion) {
    EXPECT_EQ(value_of(read_cufile_values({}, {}, 1150), "execution.parallel_io").value, "false");
    const CufileReading reading = read_cufile_values({}, {}, 1160);
    EXPECT_EQ(value_of(reading, "execution.max_io_threads").value, "8");
    EXPECT_EQ(value_of(reading, "execution.max_io_threads").where, "built into libcufile 1.16");
    EXPECT_EQ(value_of(reading, "properties.max_direct_io_size_kb").value, "1024");
    EXPECT_EQ(value_of(read_cufile_values({}, {}, 1190), "properties.max_direct_io_size_kb").value, "16384");
    EXPECT_TRUE(reading.problems.empty());
}

TEST(CufileValues, AVariableWinsOverTheFileAndSwitchesOnByTheWordTrueAlone) {
    const auto file = one("properties.force_compat_mode", "true", "boolean");
    CufileReading reading = read_cufile_values(file, {}, 1200);
    EXPECT_EQ(value_of(reading, "properties.force_compat_mode").where, "/f:3:5");
    for (const char* text : {"1", "yes", "on", "false", ""}) {
        reading = read_cufile_values(file, {{"CUFILE_FORCE_COMPAT_MODE", text}}, 1200);
        EXPECT_EQ(value_of(reading, "properties.force_compat_mode").value, "false") << text;
        EXPECT_EQ(value_of(reading, "properties.force_compat_mode").where, "CUFILE_FORCE_COMPAT_MODE");
    }
    EXPECT_EQ(value_of(read_cufile_values({}, {{"CUFILE_FORCE_COMPAT_MODE", "TRUE"}}, 1200), "properties.force_compat_mode").value, "true");
}

TEST(CufileValues, AMisspeltKeyIsNamedWithTheNearest) {
    const CufileReading reading = read_cufile_values(one("execution.max_io_thread", "8", "integer"), {{"CUFILE_FORCE_COMPAT_MOD", "true"}}, 1200);
    ASSERT_EQ(reading.problems.size(), 2U);
    EXPECT_EQ(reading.problems[0].text, "/f:3:5: execution.max_io_thread is no key of cufile.json; the nearest is execution.max_io_threads");
    EXPECT_NE(reading.problems[1].text.find("CUFILE_FORCE_COMPAT_MODE"), std::string::npos);
    const CufileReading moved = read_cufile_values(one("properties.max_io_threads", "8", "integer"), {}, 1200);
    EXPECT_NE(moved.problems[0].text.find("the nearest is execution.max_io_threads"), std::string::npos);
}

TEST(CufileValues, AKeyOrVariableOfAnotherVersionIsUnheard) {
    const auto file = one("block.nvme.use_pci_p2pdma", "true", "boolean");
    EXPECT_NE(texts_of(read_cufile_values(file, {}, 1150), Kind::unheard).find("libcufile 1.15 does not know it: it came with 1.16"), std::string::npos);
    EXPECT_EQ(texts_of(read_cufile_values(file, {}, 1160), Kind::unheard), "");
    EXPECT_EQ(texts_of(read_cufile_values(file, {}, std::nullopt), Kind::unheard), "");
    const Environment variables{{"CUFILE_ALLOW_COMPAT_MODE", "false"}, {"CUFILE_STATS_LEVEL", "2"}};
    const CufileReading older = read_cufile_values({}, variables, 1160);
    EXPECT_EQ(value_of(older, "properties.allow_compat_mode").value, "false");
    EXPECT_NE(texts_of(older, Kind::unheard).find("CUFILE_STATS_LEVEL: libcufile 1.16 does not know it"), std::string::npos);
    const CufileReading newer = read_cufile_values({}, variables, 1170);
    EXPECT_EQ(value_of(newer, "properties.allow_compat_mode").value, "true");
    EXPECT_NE(texts_of(newer, Kind::unheard).find("1.16 was the last before"), std::string::npos);
}

struct Case {
    const char* key;
    const char* value;
    const char* type;
    bool refused;
};
// Seen with libcufile 1.20: cuFileDriverOpen answers 5002 for those that are refused.
class CufileValueCases : public ::testing::TestWithParam<Case> {};
TEST_P(CufileValueCases, AreRefusedAsTheLibraryDoes) {
    const Case& each = GetParam();
    const std::string text = texts_of(read_cufile_values(one(each.key, each.value, each.type), {}, 1200), Kind::refused);
    EXPECT_EQ(!text.empty(), each.refused) << text;
    EXPECT_TRUE(text.empty() || text.find("/f:3:5") != std::string::npos) << text;
}
INSTANTIATE_TEST_SUITE_P(
    Seen, CufileValueCases,
    ::testing::Values(Case{"execution.max_io_threads", "128", "integer", false}, Case{"execution.max_io_threads", "129", "integer", true},
                      Case{"execution.max_io_threads", "-1", "integer", true}, Case{"execution.max_io_threads", "\"8\"", "text", true},
                      Case{"execution.max_io_threads", "6.5", "number", false}, Case{"execution.max_io_threads", "null", "null", false},
                      Case{"execution.max_io_threads", "99999999999999999999", "number", true},
                      Case{"execution.max_io_queue_depth", "0", "integer", true}, Case{"execution.max_io_queue_depth", "true", "boolean", false},
                      Case{"execution.parallel_io", "1", "integer", true}, Case{"execution.parallel_io", "\"true\"", "text", true},
                      Case{"properties.max_direct_io_size_kb", "1000", "integer", true}, Case{"properties.max_direct_io_size_kb", "64", "integer", true},
                      Case{"properties.max_direct_io_size_kb", "1024", "integer", false}, Case{"properties.use_compat_mode", "5", "integer", false},
                      Case{"properties.per_buffer_cache_size_kb", "100", "integer", true}, Case{"logging.level", "\"info\"", "text", false},
                      Case{"logging.level", "5", "integer", true}, Case{"properties.rdma_peer_type", "\"x\"", "text", true},
                      Case{"denylist.drivers", "[\"a\"]", "list", false}, Case{"denylist.drivers", "[1]", "list", true},
                      Case{"denylist.drivers", "\"a\"", "text", true}, Case{"fs.lustre.mount_table", "[]", "list", true},
                      Case{"properties.posix_pool_slab_size_kb", "[5, 1024, 16384]", "list", true},
                      Case{"properties.posix_pool_slab_size_kb", "[4, 1024, 16384]", "list", false},
                      Case{"properties.posix_pool_slab_count", "[1, 2]", "list", true}, Case{"fs.lustre.posix_gds_min_kb", "1025", "integer", true}));

TEST(CufileValues, WhatALaterNameCoversIsTold) {
    const std::vector<CufileEntry> entries{{"execution", "{}", "object", "/f", 1, 1},    {"execution.max_io_threads", "6", "integer", "/f", 2, 1},
                                           {"execution", "{}", "object", "/f", 3, 1},    {"execution.max_io_queue_depth", "100", "integer", "/f", 4, 1},
                                           {"execution", "{}", "object", "/g", 1, 1},    {"execution.max_request_parallelism", "2", "integer", "/g", 2, 1}};
    const CufileReading reading = read_cufile_values(entries, {}, 1200);
    EXPECT_EQ(value_of(reading, "execution.max_io_threads").value, "8");
    EXPECT_EQ(value_of(reading, "execution.max_io_queue_depth").value, "100");
    EXPECT_EQ(value_of(reading, "execution.max_request_parallelism").where, "/g:2:1");
    EXPECT_EQ(texts_of(reading, Kind::contradiction), "/f:1:1: execution is given again at /f:3:1, which alone counts");
}

TEST(CufileValues, ContradictionsAreTold) {
    const auto told = [](std::vector<CufileEntry> entries, int version = 1200) {
        return texts_of(read_cufile_values(entries, {}, version), Kind::contradiction);
    };
    EXPECT_NE(told(one("execution.max_io_threads", "0", "integer")).find("execution.parallel_io true"), std::string::npos);
    EXPECT_NE(told(one("properties.use_pci_p2pdma", "true", "boolean")).find("block.nvme.use_pci_p2pdma"), std::string::npos);
    EXPECT_EQ(told(one("properties.use_pci_p2pdma", "true", "boolean"), 1150), "");
    EXPECT_NE(told(one("block.nvme.use_pci_p2pdma", "true", "boolean")).find("no effect"), std::string::npos);
    auto both = one("properties.allow_compat_mode", "false", "boolean");
    both.push_back({"properties.force_compat_mode", "true", "boolean", "/f", 4, 5});
    EXPECT_NE(told(both).find("forbids"), std::string::npos);
    const auto pool = one("properties.posix_pool_slab_size_kb", "[4, 1024]", "list");
    EXPECT_NE(texts_of(read_cufile_values(pool, {}, 1200), Kind::ends_process), "");
}

// Seen: 1.16 aborts on `"block": 5`; 1.15, which has no keys there, opens.
TEST(CufileValues, ASectionThatIsNoObjectEndsTheProcessWhereTheVersionLooksIntoIt) {
    const auto block = one("block", "5", "integer");
    EXPECT_NE(texts_of(read_cufile_values(block, {}, 1160), Kind::ends_process), "");
    EXPECT_TRUE(read_cufile_values(block, {}, 1150).problems.empty());
    EXPECT_NE(texts_of(read_cufile_values(one("properties", "[]", "list"), {}, 1150), Kind::ends_process), "");
}

TEST(CufileValues, OddListsAreNoHarm) {
    for (const char* text : {"", "[", "[[]]", "[\"a\\\"]", "[,]", "]"}) {
        (void)list_elements(text);
    }
    EXPECT_EQ(list_elements("[4, \"a,b\", [1, 2]]"), (std::vector<std::string>{"4", "\"a,b\"", "[1, 2]"}));
}

}  // namespace
}  // namespace waybill
