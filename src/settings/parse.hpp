// How setting texts become values. Each throws Error invalid_argument, saying what is accepted.
#pragma once

#include <cstdint>
#include <string_view>

#include "waybill/settings.hpp"

namespace waybill {

[[nodiscard]] bool parse_bool(std::string_view text);
// `10s`, `500ms`, `2m`, `1h`, a plain number of seconds (with a fraction), or `none` for 0; in nanoseconds.
[[nodiscard]] std::uint64_t parse_duration(std::string_view text);
// The same for what must come back: no `none`, no 0.
[[nodiscard]] std::uint64_t parse_time_over_zero(std::string_view text);
[[nodiscard]] std::uint64_t parse_time_limit(std::string_view text);  // also "none": 0
// KvikIO's words too: true, yes, 1 for on; false, no, 0 for off; any case.
[[nodiscard]] CompatMode parse_compat_mode(std::string_view text);
[[nodiscard]] PageCacheUse parse_page_cache(std::string_view text);
[[nodiscard]] EvidenceLevel parse_evidence(std::string_view text);
[[nodiscard]] RequiredJudgement parse_judgement(std::string_view text);
[[nodiscard]] std::uint64_t parse_size_between(std::string_view text, std::uint64_t least, std::uint64_t most);

}  // namespace waybill
