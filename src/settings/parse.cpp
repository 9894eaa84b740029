#include "settings/parse.hpp"

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

[[noreturn]] void refuse(std::string_view accepted) {
    throw Error(ErrorCode::invalid_argument, "accepted: " + std::string(accepted));
}

template <class T>
T parse_word(std::string_view text, std::initializer_list<std::pair<std::string_view, T>> words, std::string_view accepted) {
    const std::string wanted = lower(trim(text));
    for (const auto& [word, value] : words) {
        if (wanted == word) {
            return value;
        }
    }
    refuse(accepted);
}

}  // namespace

bool parse_bool(std::string_view text) {
    return parse_word<bool>(text,
                            {{"true", true}, {"on", true}, {"yes", true}, {"1", true},
                             {"false", false}, {"off", false}, {"no", false}, {"0", false}},
                            "true, on, yes, 1, false, off, no, 0");
}

CompatMode parse_compat_mode(std::string_view text) {
    return parse_word<CompatMode>(
        text,
        {{"auto", CompatMode::automatic}, {"on", CompatMode::on}, {"true", CompatMode::on}, {"yes", CompatMode::on},
         {"1", CompatMode::on}, {"off", CompatMode::off}, {"false", CompatMode::off}, {"no", CompatMode::off},
         {"0", CompatMode::off}},
        "auto, on (true, yes, 1), off (false, no, 0)");
}

PageCacheUse parse_page_cache(std::string_view text) {
    return parse_word<PageCacheUse>(text,
                                    {{"auto", PageCacheUse::automatic}, {"use", PageCacheUse::use},
                                     {"bypass", PageCacheUse::bypass}, {"direct", PageCacheUse::direct}},
                                    "auto, use, bypass, direct");
}

EvidenceLevel parse_evidence(std::string_view text) {
    return parse_word<EvidenceLevel>(
        text, {{"off", EvidenceLevel::off}, {"auto", EvidenceLevel::automatic}, {"on", EvidenceLevel::on}}, "off, auto, on");
}

RequiredJudgement parse_judgement(std::string_view text) {
    return parse_word<RequiredJudgement>(
        text, {{"proved", RequiredJudgement::proved}, {"consistent", RequiredJudgement::consistent}}, "proved, consistent");
}

std::uint64_t parse_duration(std::string_view text) {
    constexpr std::string_view kAccepted = "a time such as 10s, 500ms, 2m, 1h, a plain number of seconds, or none";
    const std::string body = lower(trim(text));
    if (body == "none") {
        return 0;
    }
    double number = 0;
    const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), number, std::chars_format::fixed);
    if (problem != std::errc() || !(number >= 0)) {  // nan is no time
        refuse(kAccepted);
    }
    const double unit = parse_word<double>(std::string_view(end, static_cast<std::size_t>(body.data() + body.size() - end)),
                                           {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9}}, kAccepted);
    constexpr double kMostNs = 9.2e18;
    if (!(number * unit <= kMostNs)) {
        refuse(kAccepted);
    }
    return static_cast<std::uint64_t>(std::llround(number * unit));
}

std::uint64_t parse_time_over_zero(std::string_view text) {
    const std::uint64_t ns = parse_duration(text);
    if (ns == 0) {
        refuse("a time over zero, such as 10s");
    }
    return ns;
}

// 0 might be meant as no patience or as no limit.
std::uint64_t parse_time_limit(std::string_view text) {
    return lower(trim(text)) == "none" ? 0 : parse_time_over_zero(text);
}

std::uint64_t parse_size_between(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const std::uint64_t size = parse_size(text, "value");
    if (size < least || size > most) {
        refuse(exact_size_text(least) + " to " + exact_size_text(most));
    }
    return size;
}

}  // namespace waybill
