#include "settings/cufile_value_check.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace waybill {
namespace {

std::optional<std::int64_t> as_integer(std::string_view text) {
    if (text == "true" || text == "false") {
        return text == "true" ? 1 : 0;
    }
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr double kMost = 9.2e18;
    if (problem != std::errc() || end != text.data() + text.size() || std::abs(number) > kMost) {
        return std::nullopt;
    }
    std::int64_t whole = 0;
    const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), whole);
    return failed == std::errc() && last == text.data() + text.size() ? whole : static_cast<std::int64_t>(number);
}

bool in_range(const CufileKey& key, std::int64_t number, int version) {
    return number >= key.least && number <= most_of(key, version) && number % key.multiple == 0;
}

bool is_text(std::string_view json) { return json.size() >= 2 && json.front() == '"'; }
std::string_view unquoted(std::string_view json) { return is_text(json) ? json.substr(1, json.size() - 2) : json; }

bool is_one_of(std::string_view words, std::string_view word) {
    for (const std::string_view each : split(words, '|')) {
        if (each == word) {
            return true;
        }
    }
    return false;
}

CufileCheck taken(std::string value) { return {CufileTaken::yes, std::move(value), {}}; }

CufileCheck wrong(CufileTaken how, const CufileKey& key, const CufileEntry& entry, int version) {
    return {how, {}, fmt::format("is {}; {} is accepted", entry.value, accepted_text(key, version))};
}

CufileCheck check_integer(const CufileKey& key, const CufileEntry& entry, int version) {
    const auto number = as_integer(entry.value);
    if (!number || (!in_range(key, *number, version) && key.range_checked)) {
        return wrong(CufileTaken::refused, key, entry, version);
    }
    if (!in_range(key, *number, version)) {
        return {CufileTaken::as_another, std::to_string(*number), wrong(CufileTaken::as_another, key, entry, version).wrong};
    }
    const std::string text = std::to_string(*number);
    return text == entry.value ? taken(text)
                               : CufileCheck{CufileTaken::as_another, text, fmt::format("is {}, which counts as {}", entry.value, text)};
}

CufileCheck check_list(const CufileKey& key, const CufileEntry& entry, int version) {
    const CufileTaken how = key.range_checked ? CufileTaken::refused : CufileTaken::as_another;
    std::optional<std::int64_t> before;
    for (const std::string& element : list_elements(entry.value)) {
        if (key.type == CufileType::texts) {
            if (!is_text(element) || (key.words_checked && !is_one_of(key.words, unquoted(element)))) {
                return wrong(CufileTaken::refused, key, entry, version);
            }
            continue;
        }
        const auto number = as_integer(element);
        if (!number || !in_range(key, *number, version)) {
            return wrong(number ? how : CufileTaken::refused, key, entry, version);
        }
        if (key.ascending && before && *number <= *before) {
            return {how, {}, fmt::format("is {}; ascending sizes are accepted", entry.value)};
        }
        before = number;
    }
    return taken(entry.value);
}

}  // namespace

std::vector<std::string> list_elements(std::string_view text) {
    std::vector<std::string> elements;
    std::string element;
    int depth = 0;
    bool quoted = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char letter = text[k];
        if (quoted) {
            element += letter;
            if (letter == '\\' && k + 1 < text.size()) {
                element += text[++k];
            }
            quoted = letter != '"';
            continue;
        }
        quoted = letter == '"';
        depth += letter == '[' || letter == '{' ? 1 : letter == ']' || letter == '}' ? -1 : 0;
        const bool ends = (letter == ',' && depth == 1) || (letter == ']' && depth == 0);
        if (ends) {
            if (!trim(element).empty()) {
                elements.emplace_back(trim(element));
            }
            element.clear();
        } else if (!(letter == '[' && depth == 1)) {
            element += letter;
        }
    }
    return elements;
}

CufileCheck check_cufile_value(const CufileKey& key, const CufileEntry& entry, int version) {
    const std::string& type = entry.type;
    if (type == "null" || key.type == CufileType::anything) {
        return taken(type == "null" ? std::string() : entry.value);
    }
    switch (key.type) {
        case CufileType::boolean: return type == "boolean" ? taken(entry.value) : wrong(CufileTaken::refused, key, entry, version);
        case CufileType::integer:
            return type == "integer" || type == "number" || type == "boolean" ? check_integer(key, entry, version)
                                                                              : wrong(CufileTaken::refused, key, entry, version);
        case CufileType::text: return type == "text" ? taken(entry.value) : wrong(CufileTaken::refused, key, entry, version);
        case CufileType::word:
            if (type != "text") {
                return wrong(CufileTaken::refused, key, entry, version);
            }
            return is_one_of(key.words, unquoted(entry.value))
                       ? taken(entry.value)
                       : wrong(key.words_checked ? CufileTaken::refused : CufileTaken::as_another, key, entry, version);
        case CufileType::map: return type == "object" ? taken(entry.value) : wrong(CufileTaken::refused, key, entry, version);
        default: return type == "list" ? check_list(key, entry, version) : wrong(CufileTaken::refused, key, entry, version);
    }
}

}  // namespace waybill
