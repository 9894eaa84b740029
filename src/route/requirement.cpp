#include "route/requirement.hpp"

#include <fmt/format.h>


namespace waybill {

bool satisfies(Path path, Require require) noexcept {
    switch (require) {
        case Require::none: return true;
        case Require::direct: return path == Path::nvidia_fs || path == Path::p2pdma;
        case Require::host: return path == Path::host;
        case Require::staged: return path == Path::staged;
        case Require::cufile_posix: return path == Path::cufile_posix;
        case Require::nvidia_fs: return path == Path::nvidia_fs;
        case Require::p2pdma: return path == Path::p2pdma;
    }
    return false;
}

void check_requirement(Route& route, Require require) {
    if (route.refused || satisfies(route.expected_path, require)) {
        return;
    }
    // cuFile chooses by itself, and only its counters tell what it took: it is tried, and judged afterwards.
    if (route.engine == EngineKind::cufile && require != Require::host && require != Require::staged) {
        return;
    }
    const Reason& reason = route.reasons.front();
    route.refused = Reason{"require-not-met", fmt::format("require={} cannot be met: the route is {} because {} ({})",
                                                          to_text(require), to_text(route.expected_path), reason.text, reason.id)};
}

}  // namespace waybill
