#include "route/fallback.hpp"

#include <utility>

namespace waybill {

bool may_fall_back(const Route& route, const Settings& settings, Require require) noexcept {
    return route.engine == EngineKind::cufile && settings.compat_mode.value == CompatMode::automatic && require == Require::none;
}

Route fall_back(const Route& route, Reason reason) {
    Route staged = route;
    staged.engine = EngineKind::staged;
    staged.expected_path = Path::staged;
    staged.cufile_direct_descriptor = false;
    staged.doubt.reset();
    staged.reasons.insert(staged.reasons.begin(), std::move(reason));
    staged.reasons.insert(staged.reasons.end(), route.reasons_if_staged.begin(), route.reasons_if_staged.end());
    staged.reasons_if_staged.clear();
    return staged;
}

}  // namespace waybill
