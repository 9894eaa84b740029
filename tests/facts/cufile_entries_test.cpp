#include "facts/cufile_entries.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "facts/cufile_json.hpp"

namespace waybill {
namespace {

const CufileEntry* entry_of(const CufileText& text, const std::string& key) {
    const auto found = std::find_if(text.entries.begin(), text.entries.end(), [&](const CufileEntry& entry) { return entry.key == key; });
    return found == text.entries.end() ? nullptr : &*found;
}

TEST(CufileEntries, EachMemberHasItsLineAndColumn) {
    const CufileText text = parse_cufile_entries("{\n  // a \"comment\"\n  \"execution\": { /* {\"x\": 1} */ \"max_io_threads\" : 8 },\n"
                                                 "\t\"fs\": {\"lustre\": {\"mount_table\": {\"/a.b\": [\"1.2.3.4\" /* one */ ,\n\"5\"]}}}\n}",
                                                 "/f");
    ASSERT_TRUE(text.valid) << text.problem;
    const CufileEntry* threads = entry_of(text, "execution.max_io_threads");
    ASSERT_NE(threads, nullptr);
    EXPECT_EQ(threads->value, "8");
    EXPECT_EQ(threads->type, "integer");
    EXPECT_EQ(threads->file, "/f");
    EXPECT_EQ(threads->line, 3U);
    EXPECT_EQ(threads->column, 33U);
    const CufileEntry* table = entry_of(text, "fs.lustre.mount_table");
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->type, "object");
    EXPECT_EQ(table->value, "{\"/a.b\": [\"1.2.3.4\", \"5\"]}");
    EXPECT_EQ(table->line, 4U);
    EXPECT_EQ(table->column, 20U);
}

TEST(CufileEntries, AKeyWithEscapesOrADotIsFoundAndIsNoPath) {
    const CufileText text = parse_cufile_entries("{ \"a\\\"b\": 1, \"execution.max_io_threads\": 2 }", "/f");
    ASSERT_EQ(text.entries.size(), 2U);
    EXPECT_EQ(text.entries[0].key, "a\"b");
    EXPECT_EQ(text.entries[0].column, 3U);
    EXPECT_EQ(text.entries[1].key, "\"execution.max_io_threads\"");
}

// Seen with libcufile 1.15 and 1.20: cuFileDriverOpen with each of these texts.
TEST(CufileEntries, TextsAreTakenAndRefusedAsTheLibraryDoes) {
    for (const char* text : {"{}", "[]", "null", "{} trailing", "{\"a\": \"x\ty\"}", "{/* c */}", "{// c\n}", "{\"execution\": {\"max_io_threads\": 6.5}}"}) {
        EXPECT_TRUE(parse_cufile_entries(text, "/f").valid) << text;
    }
    for (const char* text : {"", "{", "\xEF\xBB\xBF{}", "{ # c\n}", "{\"a\": 1,}", "{'a': 1}", "{\"a\": NaN}", "{\"a\": +6}", "{\"a\": \"\xff\"}"}) {
        const CufileText read = parse_cufile_entries(text, "/f");
        EXPECT_FALSE(read.valid) << text;
        EXPECT_FALSE(read.ends_process) << text;
        EXPECT_NE(read.problem.find("line 1, column "), std::string::npos) << read.problem;
    }
}

TEST(CufileEntries, WhereTheLibraryAbortsIsToldApart) {
    for (const char* text : {"\"x\"", "5", "[1]", "true"}) {
        EXPECT_TRUE(parse_cufile_entries(text, "/f").ends_process) << text;
    }
    EXPECT_TRUE(parse_cufile_entries(std::string(2000, '['), "/f").ends_process);
    EXPECT_TRUE(parse_cufile_config("{\n \"execution\": []}", "/f").ends_process);
    EXPECT_NE(parse_cufile_config("{\n \"execution\": []}", "/f").problem.find("/f:2:2"), std::string::npos);
}

TEST(CufileEntries, AFaultIsPlaced) {
    EXPECT_EQ(parse_cufile_entries("{\n\n oops }", "/f").problem.substr(0, 6), "line 3");
}

}  // namespace
}  // namespace waybill
