#include "route/join.hpp"

#include <fmt/format.h>

#include "route/fallback.hpp"

namespace waybill {
namespace {

bool is_direct(Path path) noexcept { return path == Path::nvidia_fs || path == Path::p2pdma; }

// A file that goes past the page cache has the others do so too.
PageCacheUse joined_use(const Route& first, const Route& other) noexcept {
    return first.page_cache == PageCacheUse::use ? other.page_cache : first.page_cache;
}

}  // namespace

Route join(const Route& first, const Route& other, std::string_view name) {
    if (first.engine != other.engine) {
        const Route& cufile = first.engine == EngineKind::cufile ? first : other;
        Route staged = fall_back(cufile, {"files-differ", fmt::format("not all files of this call can go by cuFile ('{}' goes by {})", name,
                                                                      to_text(other.engine))});
        const Route& already_staged = first.engine == EngineKind::cufile ? other : first;
        staged.page_cache = joined_use(already_staged, cufile);
        return staged;
    }
    Route joined = first;
    joined.page_cache = joined_use(first, other);
    if (is_direct(joined.expected_path)) {
        joined.expected_path = other.expected_path;
    }
    joined.cufile_direct_descriptor = first.cufile_direct_descriptor && other.cufile_direct_descriptor;
    joined.suspicious_driver = first.suspicious_driver || other.suspicious_driver;
    if (!joined.doubt) {
        joined.doubt = other.doubt;
    }
    return joined;
}

}  // namespace waybill
