#include "facts/saved_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "waybill/error.hpp"

namespace waybill {
namespace {

SavedFacts parsed(const std::string& members) {
    return parse_saved_facts(R"({"schema":"waybill.facts/1",)" + members + "}", "facts");
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int k = 0; k < times; ++k) {
        all += text;
    }
    return all;
}

TEST(SavedFacts, NestedTooDeeplyAreRefusedWhereverThatIs) {
    constexpr int kDeep = 100'000;
    for (const char* key : {"files", "environment", "gpus", "limits", "cufile", "unknown"}) {
        for (const auto& [open, close] : {std::pair(R"({"a":)", "}"), std::pair("[", "]")}) {
            const std::string members = '"' + std::string(key) + "\":" + repeated(open, kDeep) + '1' + repeated(close, kDeep);
            EXPECT_THAT([&] { (void)parsed(members); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr("levels deep"))) << key;
        }
    }
}

TEST(SavedFacts, NumbersThatCannotBeAreRefusedByName) {
    const std::pair<const char*, const char*> wrong[] = {
        {R"("gpus":[{"device":-1}])", "device is -1"},
        {R"("gpus":[{"device":99999999999999999999}])", "device is"},
        {R"("files":{"/x":{"size_bytes":-5}})", "size_bytes is -5"},
        {R"("files":{"/x":{"size_bytes":1e300}})", "size_bytes is 1e+300"},
        {R"("files":{"/x":{"direct_offset_align":-1}})", "direct_offset_align is -1"},
        {R"("files":{"/x":{"direct_memory_align":"512"}})", "direct_memory_align is \"512\""},
        {R"("files":{"/x":5})", "each of files must be an object"},
        {R"("limits":{"memlock_bytes":1.5})", "memlock_bytes is 1.5"},
    };
    for (const auto& [members, told] : wrong) {
        EXPECT_THAT([&] { (void)parsed(members); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr(told))) << members;
    }
    const SavedFacts right = parsed(R"("gpus":[{"device":3}],"files":{"/x":{"size_bytes":7,"direct_offset_align":512}})");
    EXPECT_EQ(right.gpus.at(0).device, 3);
    EXPECT_EQ(right.files.at("/x").size_bytes, 7U);
}

}  // namespace
}  // namespace waybill
