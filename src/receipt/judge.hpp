// Judge: from what the engine did and what the counters say, which path the bytes took and how sure that is.
//
// Pure. The rules are DESIGN.md's: only counters prove a path; counters that stayed silent never contradict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waybill/receipt.hpp"

namespace waybill {

struct PathJudgement {
    Path path = Path::unknown;
    std::vector<PathShare> paths;
    Judgement judgement = Judgement::consistent;
    std::string text;  // one sentence
};

// `moved_bytes` and `calls`: what the engine itself counted. `expected` is the route's path.
[[nodiscard]] PathJudgement judge(EngineKind engine, Path expected, std::uint64_t moved_bytes, std::uint64_t calls,
                            const Evidence& evidence);

}  // namespace waybill
