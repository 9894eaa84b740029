#include "check/cufile_rules.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

struct Machine {
    FileFacts file;
    MachineFacts machine;
    GpuFacts gpu;
    SurroundingFacts surroundings;

    Machine() {
        machine.cufile.library = known_fact<std::string>("/l/libcufile.so.1.16.0", "x");
        machine.cufile.version = known_fact(1160, "x");
    }
    void add(const char* key, const char* value, const char* type) {
        machine.cufile.config.file = "/etc/cufile.json";
        machine.cufile.config.entries.push_back({key, value, type, "/etc/cufile.json", 4, 7});
    }
    [[nodiscard]] std::optional<Finding> ask(std::string_view id) const {
        for (const Rule& rule : rules()) {
            if (rule.id == id) {
                return apply(rule, {file, machine, gpu, surroundings});
            }
        }
        ADD_FAILURE() << id;
        return std::nullopt;
    }
};

TEST(CufileRules, WithoutAFileTheBuiltInValuesAreInForceAndTold) {
    Machine machine;
    const auto found = machine.ask("cufile-json-missing");
    ASSERT_TRUE(found);
    EXPECT_NE(found->seen.find("built into libcufile 1.16 are in force"), std::string::npos);
    EXPECT_NE(found->seen.find("execution.max_io_threads 8 (shipped: 4)"), std::string::npos);
    EXPECT_NE(found->seen.find("properties.max_direct_io_size_kb 1024 (shipped: 16384)"), std::string::npos);
    machine.machine.cufile.library = absent_fact<std::string>("x");
    EXPECT_FALSE(machine.ask("cufile-json-missing"));
}

TEST(CufileRules, ANamedFileThatIsMissingIsToldThoughAnotherIsThere) {
    Machine machine;
    machine.add("execution.max_io_threads", "8", "integer");
    EXPECT_FALSE(machine.ask("cufile-json-missing"));
    machine.machine.cufile.config.missing_file = "/my.json";
    const auto found = machine.ask("cufile-json-missing");
    ASSERT_TRUE(found);
    EXPECT_NE(found->seen.find("/my.json"), std::string::npos);
    EXPECT_NE(found->seen.find("/etc/cufile.json alone is in force"), std::string::npos);
}

TEST(CufileRules, KeysAndVariablesThatThisVersionPassesOverAreNamed) {
    Machine machine;
    EXPECT_FALSE(machine.ask("cufile-json-unknown-key"));
    machine.add("execution.max_io_thread", "8", "integer");
    machine.surroundings.cufile_variables = {{"CUFILE_STATS_LEVEL", "3"}};
    const auto found = machine.ask("cufile-json-unknown-key");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::note);
    EXPECT_NE(found->seen.find("libcufile 1.16 passes over without a word"), std::string::npos);
    EXPECT_NE(found->seen.find("/etc/cufile.json:4:7"), std::string::npos);
    EXPECT_NE(found->seen.find("the nearest is execution.max_io_threads"), std::string::npos);
    EXPECT_NE(found->seen.find("CUFILE_STATS_LEVEL"), std::string::npos);
}

TEST(CufileRules, ValuesThatCountAsOthersAndContradictionsAreNotes) {
    Machine machine;
    machine.surroundings.cufile_variables = {{"CUFILE_FORCE_COMPAT_MODE", "1"}};
    ASSERT_TRUE(machine.ask("cufile-json-ignored-value"));
    EXPECT_NE(machine.ask("cufile-json-ignored-value")->seen.find("counts as false"), std::string::npos);
    machine.add("properties.use_pci_p2pdma", "true", "boolean");
    ASSERT_TRUE(machine.ask("cufile-json-contradiction"));
    EXPECT_NE(machine.ask("cufile-json-contradiction")->seen.find("/etc/cufile.json:4:7"), std::string::npos);
}

}  // namespace
}  // namespace waybill
