// Small operations on text that the standard library lacks, and sizes and durations for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

[[nodiscard]] std::string_view trim(std::string_view text) noexcept;
[[nodiscard]] std::string lower(std::string_view text);
// For a line of a terminal: control characters as \n, \t or \x1b, everything else as it is. (A file's name may hold any of them.)
[[nodiscard]] std::string escape_controls(std::string_view text);
// "a,b,,c" -> a, b, "", c
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

// 4194304 -> "4 MiB", 1500 -> "1500 B", 1610612736 -> "1.50 GiB"
[[nodiscard]] std::string size_text(std::uint64_t bytes);
// Exact when it can be: 4194304 -> "4MiB", 4097 -> "4097"; parse_size reads it back.
[[nodiscard]] std::string exact_size_text(std::uint64_t bytes);
// 1234567 ns -> "1.23 ms"
[[nodiscard]] std::string duration_text(std::uint64_t nanoseconds);

// The known word nearest to `word` (edit distance at most 3, and half of its letters), or empty.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace waybill
