// The keys of cufile.json and the CUFILE_ variables, by version of libcufile: one table. Pure.
//
// Sources: names and since when, from the strings of libcufile 1.15.1, 1.16.1, 1.17.1, 1.18.1, 1.19.1 and 1.20.0; types, ranges and
// built-in values, from those libraries themselves: what they refuse, and the configuration that they log, without a file and with
// `{}`; the shipped values, from the sample that NVIDIA installs as /etc/cufile.json. docs/cufile-json.md tells how.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace waybill {

enum class CufileType { boolean, integer, text, word, integers, texts, map, anything };

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct CufileKey {
    std::string_view path;      // execution.max_io_threads
    CufileType type = CufileType::boolean;
    std::string_view built_in;  // JSON text: what holds where no file has the key
    std::string_view meaning;
    int since = 0;              // 1000*major + 10*minor; the first version that knows it (0: all from 1.15 on)
    int until = 0;              // the first that no longer does (0: none)
    std::int64_t least = 0;     // of an integer, or of each in a list
    std::int64_t most = kNoLimit;
    std::int64_t multiple = 1;
    bool range_checked = true;  // a number out of range is refused; else it is taken as it is
    bool ascending = false;     // of a list's integers
    bool heard = true;          // false: the library logs a value of this name and never reads it
    std::string_view words{};     // of a word, or of each in a list: separated by |
    bool words_checked = false; // another word is refused; else it is passed over
    std::string_view shipped{};   // in the sample file, where that differs from the built-in value
    std::string_view variable{};  // that overrides it

    [[nodiscard]] constexpr bool known_to(int version) const { return version >= since && (until == 0 || version < until); }
};

// In the order of the sample file.
[[nodiscard]] std::span<const CufileKey> cufile_keys();
[[nodiscard]] const CufileKey* find_cufile_key(std::string_view path);

// What differs in older versions.
[[nodiscard]] std::string_view built_in_of(const CufileKey& key, int version);
[[nodiscard]] std::int64_t most_of(const CufileKey& key, int version);

// "an integer from 0 to 128", "true or false", "one of DC_V1, EXT_RC_V1", ...
[[nodiscard]] std::string accepted_text(const CufileKey& key, int version);

struct CufileVariable {
    std::string_view name;
    int since = 0;
    int until = 0;
    std::string_view key{};  // that it overrides; empty: none

    [[nodiscard]] constexpr bool known_to(int version) const { return version >= since && (until == 0 || version < until); }
};

[[nodiscard]] std::span<const CufileVariable> cufile_variables();
[[nodiscard]] const CufileVariable* find_cufile_variable(std::string_view name);

// The newest version in these tables: taken for a library whose version is not known.
constexpr int kNewestCufile = 1200;

// "1.17" and "1.17.1.22" -> 1170; nothing for anything else. A major number has at most two digits and a minor one too.
[[nodiscard]] std::optional<int> parse_cufile_version(std::string_view text);
constexpr int kMostCufileVersion = 99'990;

// 1170 -> "1.17"
[[nodiscard]] std::string cufile_version_text(int version);

}  // namespace waybill
