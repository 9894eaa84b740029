#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <fmt/format.h>

namespace waybill {

std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view kBlank = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return result;
}

std::string escape_controls(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        constexpr unsigned char kFirstPlain = 0x20;
        constexpr unsigned char kDelete = 0x7f;
        if (letter == '\n') {
            result += "\\n";
        } else if (letter == '\t') {
            result += "\\t";
        } else if (code < kFirstPlain || code == kDelete) {
            result += fmt::format("\\x{:02x}", code);
        } else {
            result += letter;
        }
    }
    return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

namespace {

struct Unit {
    std::uint64_t bytes;
    std::string_view name;
};
constexpr Unit kBinaryUnits[] = {{1ULL << 40, "TiB"}, {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}};

}  // namespace

std::string size_text(std::uint64_t bytes) {
    for (const auto& [unit, name] : kBinaryUnits) {
        if (bytes % unit == 0 && bytes != 0) {
            return fmt::format("{} {}", bytes / unit, name);
        }
        if (bytes >= 10 * unit || (bytes >= unit && unit > 1024)) {
            return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
        }
    }
    return fmt::format("{} B", bytes);
}

std::string exact_size_text(std::uint64_t bytes) {
    for (const auto& [unit, name] : kBinaryUnits) {
        if (bytes != 0 && bytes % unit == 0) {
            return fmt::format("{}{}", bytes / unit, name);
        }
    }
    return std::to_string(bytes);
}

std::string duration_text(std::uint64_t nanoseconds) {
    const double value = static_cast<double>(nanoseconds);
    if (nanoseconds < 1000) {
        return fmt::format("{} ns", nanoseconds);
    }
    // Three digits round up to the next unit from here on.
    constexpr double kMost = 999.5;
    if (value < kMost * 1e3) {
        return fmt::format("{:.3g} us", value / 1e3);
    }
    if (value < kMost * 1e6) {
        return fmt::format("{:.3g} ms", value / 1e6);
    }
    return fmt::format("{:.2f} s", value / 1e9);
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    // A short word is three letters from any other.
    const std::size_t farthest = std::min<std::size_t>(3, (word.size() + 1) / 2);
    std::string best;
    std::size_t best_distance = farthest + 1;
    for (const std::string& candidate : known) {
        std::vector<std::size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t diagonal = row[0]++;
            for (std::size_t j = 0; j < candidate.size(); ++j) {
                const std::size_t replace = diagonal + (word[i] == candidate[j] ? 0 : 1);
                diagonal = row[j + 1];
                row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replace});
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

}  // namespace waybill
