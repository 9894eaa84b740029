// Finding: one result of `check`: what stands between a file and a faster way, where that was seen, and what to do.
//
// Plain values; share freely. Ids are stable words with hyphens, documented in docs/findings.md.
#pragma once

#include <string>
#include <string_view>

namespace waybill {

// What a finding costs.
enum class Severity {
    blocks_direct,  // no direct path while this stands
    blocks_cufile,  // cuFile cannot serve the file at all, in its compatibility mode too
    slows,          // it works, slower than it could
    note,           // worth knowing; nothing is lost
};

// What was found, and what to do about it.
struct Finding {
    std::string id;
    Severity severity = Severity::note;
    std::string seen;        // one sentence: what was seen
    std::string source;      // where: a path, a call
    std::string fix;         // what to do, or why nothing can be done
    std::string not_needed;  // what people try in vain; may be empty
};

// The enumerator's word: blocks-direct, ...
[[nodiscard]] std::string_view to_text(Severity severity) noexcept;

}  // namespace waybill
