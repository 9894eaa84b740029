#include "settings/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/table.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::string message_of(const SettingLayers& layers, const Environment& environment, const ConfigFile& file = {}) {
    try {
        (void)resolve(layers, environment, file);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_setting);
        return error.what();
    }
    return {};
}

TEST(Resolve, EveryRowHasADefaultThatItAccepts) {
    const Settings settings = resolve({}, {}, {});
    for (const SettingEntry& entry : setting_table()) {
        EXPECT_EQ(entry.origin(settings), Origin::built_in) << entry.name;
        EXPECT_FALSE(entry.meaning.empty()) << entry.name;
        EXPECT_TRUE(entry.variable.starts_with("WAYBILL_")) << entry.name;
        // What a setting prints, it reads back.
        EXPECT_EQ(message_of({{{std::string(entry.name), entry.value_text(settings)}}, {}}, {}), "") << entry.name;
    }
    EXPECT_EQ(settings.task_size.value, 4U << 20);
    EXPECT_EQ(settings.gds_threshold.value, 16384U);
    EXPECT_EQ(settings.num_threads.value, 0U);
    EXPECT_EQ(settings.compat_mode.value, CompatMode::automatic);
    EXPECT_EQ(settings.driver_timeout.value, 10'000'000'000U);
}

TEST(Resolve, ADurationIsWrittenAsItIsReadBack) {
    for (const auto& [text, written] : {std::pair{"500us", "500us"}, {"1.5ms", "1500us"}, {"2s", "2s"}, {"1500ms", "1500ms"},
                                        {"7ns", "7ns"}, {"2m", "120s"}, {"none", "none"}}) {
        const Settings settings = resolve({{{"time_limit", text}}, {}}, {}, {});
        for (const SettingEntry& entry : setting_table()) {
            if (entry.name == "time_limit") {
                EXPECT_EQ(entry.value_text(settings), written);
                const Settings again = resolve({{{"time_limit", entry.value_text(settings)}}, {}}, {}, {});
                EXPECT_EQ(again.time_limit.value, settings.time_limit.value);
            }
        }
    }
}

TEST(Resolve, OpeningTheDriverHasALimit) {
    for (const char* text : {"none", "0", "0s"}) {
        EXPECT_NE(message_of({{{"driver_timeout", text}}, {}}, {}).find("over zero"), std::string::npos) << text;
    }
}

TEST(Resolve, TheNearerLayerWins) {
    SettingLayers layers;
    Environment environment;
    ConfigFile file{"/c.json", {}};
    const auto expect = [&](const char* size, Origin origin, const std::string& where) {
        const Settings settings = resolve(layers, environment, file);
        EXPECT_EQ(settings.task_size.value, parse_size(size, "x"));
        EXPECT_EQ(settings.task_size.origin, origin);
        EXPECT_EQ(settings.task_size.where, where);
    };
    expect("4MiB", Origin::built_in, "");
    file.values["task_size"] = "5MiB";
    expect("5MiB", Origin::config_file, "/c.json");
    environment["KVIKIO_TASK_SIZE"] = "6MiB";
    expect("6MiB", Origin::kvikio_variable, "KVIKIO_TASK_SIZE");
    environment["WAYBILL_TASK_SIZE"] = "7MiB";
    expect("7MiB", Origin::waybill_variable, "WAYBILL_TASK_SIZE");
    layers.context["task_size"] = "8MiB";
    expect("8MiB", Origin::context, "");
    layers.call["task_size"] = "9MiB";
    expect("9MiB", Origin::call, "");
}

TEST(Resolve, AnEmptyVariableIsNotSet) {
    for (const SettingEntry& entry : setting_table()) {
        Environment environment{{std::string(entry.variable), ""}};
        for (const std::string_view name : entry.kvikio_variables) {
            environment.emplace(name, "");
        }
        ASSERT_EQ(message_of({}, environment), "") << entry.name;
        EXPECT_EQ(entry.origin(resolve({}, environment, {})), Origin::built_in) << entry.name;
    }
    const ConfigFile file{"/c.json", {{"task_size", "5MiB"}}};
    EXPECT_EQ(resolve({}, {{"WAYBILL_TASK_SIZE", ""}}, file).task_size.origin, Origin::config_file) << "and hides no file";
    EXPECT_EQ(resolve({}, {{"WAYBILL_TASK_SIZE", ""}, {"KVIKIO_TASK_SIZE", "6MiB"}}, {}).task_size.value, 6U << 20);
    EXPECT_EQ(resolve({}, {{"KVIKIO_NTHREADS", ""}, {"KVIKIO_NUM_THREADS", "3"}}, {}).num_threads.value, 3U) << "and contradicts nothing";
    EXPECT_NE(message_of({{{"task_size", ""}}, {}}, {}), "") << "a call says what it says";
}

TEST(Resolve, KvikiosTwoNamesForThreadsMustAgree) {
    EXPECT_EQ(resolve({}, {{"KVIKIO_NTHREADS", "4"}}, {}).num_threads.value, 4U);
    EXPECT_EQ(resolve({}, {{"KVIKIO_NUM_THREADS", "4"}, {"KVIKIO_NTHREADS", "4"}}, {}).num_threads.value, 4U);
    const std::string text = message_of({}, {{"KVIKIO_NUM_THREADS", "4"}, {"KVIKIO_NTHREADS", "8"}});
    EXPECT_NE(text.find("KVIKIO_NUM_THREADS"), std::string::npos);
    EXPECT_NE(text.find("KVIKIO_NTHREADS"), std::string::npos);
}

TEST(Resolve, KvikiosWordsMeanTheSame) {
    for (const char* word : {"ON", "true", "Yes", "1"}) {
        EXPECT_EQ(resolve({}, {{"KVIKIO_COMPAT_MODE", word}}, {}).compat_mode.value, CompatMode::on) << word;
    }
    for (const char* word : {"OFF", "false", "no", "0"}) {
        EXPECT_EQ(resolve({}, {{"KVIKIO_COMPAT_MODE", word}}, {}).compat_mode.value, CompatMode::off) << word;
    }
    EXPECT_EQ(resolve({}, {{"KVIKIO_AUTO_DIRECT_IO_READ", "true"}}, {}).page_cache.value, PageCacheUse::direct);
    EXPECT_EQ(resolve({}, {{"KVIKIO_AUTO_DIRECT_IO_WRITE", "on"}}, {}).direct_write.value, true);
}

TEST(Resolve, ABadValueNamesThePlaceTheValueAndWhatIsAccepted) {
    struct Case {
        const char* variable;
        const char* value;
    };
    for (const auto& [variable, value] : {Case{"WAYBILL_TASK_SIZE", "16MiBs"}, Case{"WAYBILL_TASK_SIZE", "0"},
                                          Case{"KVIKIO_TASK_SIZE", "1e6"}, Case{"KVIKIO_TASK_SIZE", "-1"},
                                          Case{"WAYBILL_COMPAT_MODE", "maybe"}, Case{"KVIKIO_COMPAT_MODE", " "},
                                          Case{"WAYBILL_NUM_THREADS", "0"}, Case{"WAYBILL_CACHED_SHARE", "101"},
                                          Case{"WAYBILL_DRIVER_TIMEOUT", "10 apples"}, Case{"WAYBILL_TIME_LIMIT", "-3"},
                                          Case{"WAYBILL_TIME_LIMIT", "0"}, Case{"WAYBILL_TIME_LIMIT", "0.1ns"},
                                          Case{"WAYBILL_PAGE_CACHE", "never"}, Case{"WAYBILL_EVIDENCE", "2"}}) {
        const std::string text = message_of({}, {{variable, value}});
        EXPECT_NE(text.find(variable), std::string::npos) << text;
        EXPECT_NE(text.find(std::string("'") + value + "'"), std::string::npos) << text;
        EXPECT_NE(text.find("accepted"), std::string::npos) << text;
    }
}

TEST(Resolve, AnUnknownNameIsTold) {
    EXPECT_NE(message_of({{{"tasksize", "1"}}, {}}, {}).find("task_size"), std::string::npos);
    EXPECT_NE(message_of({}, {}, {"/c.json", {{"task_sise", "1"}}}).find("/c.json"), std::string::npos);
}

TEST(Resolve, SizesBeyondTheOldLimitsWork) {
    EXPECT_EQ(resolve({}, {{"KVIKIO_TASK_SIZE", "2147483648"}}, {}).task_size.value, 2147483648U);
    EXPECT_EQ(resolve({}, {{"WAYBILL_TASK_SIZE", "1TiB"}}, {}).task_size.value, 1ULL << 40);
}

TEST(ConfigFile, IsJsonWithComments) {
    const SettingValues values = parse_config("{\n// mine\n\"task_size\": \"16MiB\", \"num_threads\": 4, \"direct_write\": true}", "/c");
    EXPECT_EQ(values.at("task_size"), "16MiB");
    EXPECT_EQ(values.at("num_threads"), "4");
    EXPECT_EQ(values.at("direct_write"), "true");
}

TEST(ConfigFile, WhatIsNotUnderstoodIsToldWithItsLine) {
    for (const char* text : {"", "[]", "{\n\"a\": }", "{\"task_size\": [1]}", "{\"task_size\": null}", "nonsense"}) {
        try {
            (void)parse_config(text, "/etc/waybill.json");
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_setting);
            EXPECT_NE(std::string(error.what()).find("/etc/waybill.json"), std::string::npos);
        }
    }
}

TEST(Resolve, NoValueHoldsANulWhicheverLayerGivesIt) {
    for (const char* name : {"receipts", "machine_root", "evidence", "task_size", "cufile_json"}) {
        const std::string value("a\0b", 3);
        const SettingValues values{{name, value}};
        for (const auto& layers : {SettingLayers{values, {}}, SettingLayers{{}, values}}) {
            EXPECT_THAT([&] { (void)resolve(layers, {}, {}); },
                        ::testing::ThrowsMessage<Error>(::testing::HasSubstr("has a NUL character after 'a'; no value can hold one")))
                << name;
        }
    }
}

}  // namespace
}  // namespace waybill
