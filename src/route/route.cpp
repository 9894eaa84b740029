#include "waybill/route.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "route/conditions.hpp"
#include "route/requirement.hpp"
#include "route/suspicion.hpp"

namespace waybill {
namespace {

// Staged or host: Waybill moves the bytes itself.
Route own_route(EngineKind engine, Reason reason) {
    Route route;
    route.engine = engine;
    route.expected_path = engine == EngineKind::host ? Path::host : Path::staged;
    route.reasons.push_back(std::move(reason));
    return route;
}

Route cufile_route(Reason reason, const DirectPath& direct, const MachineFacts& machine) {
    Route route;
    route.engine = EngineKind::cufile;
    route.expected_path = direct.path.value_or(Path::cufile_posix);
    route.cufile_direct_descriptor = direct.path.has_value();
    route.suspicious_driver = driver_is_suspicious(machine);
    route.reasons.push_back(std::move(reason));
    return route;
}

bool is_cached(const Residency& residency, std::uint64_t share_percent) {
    return residency.state != Residency::State::unknown && residency.range_bytes != 0 &&
           static_cast<double>(residency.cached_bytes) >=
               static_cast<double>(residency.range_bytes) * static_cast<double>(share_percent) / 100.0;
}

// compat_mode=off: cuFile, or a refusal that names the first condition that fails.
Route forced_route(const FileFacts& file, const MachineFacts& machine, const GpuFacts* gpu) {
    const DirectPath direct = find_direct_path(file, machine, gpu);
    Route route = cufile_route({"compat-off", "compat_mode=off asks for cuFile"}, direct, machine);
    if (direct.first_failing) {
        route.reasons.push_back(*direct.first_failing);
    }
    if (const auto failed = first_failing({true, false, false}, file, machine, gpu)) {
        // Another machine's files cannot be tried: there the facts have the last word. Nor can what would end this process.
        const bool library_decides =
            failed->condition->library_decides && machine.root == "/" && !machine.cufile.config.ends_in_read;
        (library_decides ? route.doubt : route.refused) = failed->reason;
    }
    return route;
}

Route automatic_route(const RouteQuestion& question, const Settings& settings, const FileFacts& file, const MachineFacts& machine,
                      const GpuFacts* gpu) {
    const DirectPath direct = find_direct_path(file, machine, gpu);
    if (!direct.path) {
        return own_route(EngineKind::staged, *direct.first_failing);
    }
    const bool read = question.direction == Direction::read;
    if (read && is_cached(question.residency, settings.cached_share.value)) {
        return own_route(EngineKind::staged,
                         {"in-page-cache", fmt::format("{} of {} bytes looked at are in the page cache, from where staging is faster",
                                                       question.residency.cached_bytes, question.residency.range_bytes)});
    }
    Route route = cufile_route(
        {"direct-possible", fmt::format("a direct path by {} exists for this file", to_text(*direct.path))}, direct, machine);
    if (read && question.residency.state == Residency::State::unknown) {
        route.reasons.push_back({"residency-unknown", "whether the range is cached could not be told, which counts as not cached"});
    }
    return route;
}

// What the request and the settings decide alone; null where the file and the machine have a say.
std::optional<Route> route_without_facts(const RouteQuestion& question, const Settings& settings) {
    if (!question.to_gpu) {
        return own_route(EngineKind::host, {"host-destination", "the memory is the host's"});
    }
    if (question.managed_memory) {
        return own_route(EngineKind::staged, {"managed-memory", "managed memory is always staged"});
    }
    if (settings.compat_mode.value == CompatMode::on) {
        return own_route(EngineKind::staged, {"compat-on", "compat_mode=on asks for staging"});
    }
    if (question.size_bytes < settings.gds_threshold.value) {
        return own_route(EngineKind::staged,
                         {"below-threshold", fmt::format("{} bytes are fewer than gds_threshold ({})", question.size_bytes,
                                                         settings.gds_threshold.value)});
    }
    return std::nullopt;
}

Route route_by_facts(const RouteQuestion& question, const Settings& settings, const FileFacts& file, const MachineFacts& machine,
                     const GpuFacts* gpu) {
    return settings.compat_mode.value == CompatMode::off ? forced_route(file, machine, gpu)
                                                         : automatic_route(question, settings, file, machine, gpu);
}

// A read large enough that it matters whether a cold file goes into the page cache or past it.
bool cache_is_in_question(const RouteQuestion& question, const Settings& settings) {
    constexpr std::uint64_t kWorthAWord = 1 << 20;
    return question.direction == Direction::read && settings.page_cache.value == PageCacheUse::automatic &&
           question.size_bytes >= kWorthAWord && !is_cached(question.residency, settings.cached_share.value);
}

// Why Waybill's own calls cannot go past the page cache.
std::optional<Reason> why_not_direct(const FileFacts& file, Direction direction) {
    const char* const moved = direction == Direction::read ? "read" : "written";
    const std::string so = fmt::format(", so it is {} through the page cache", moved);
    if (file.direct_open.absent()) {
        return Reason{"direct-open-refused", "the file cannot be opened with O_DIRECT" + so};
    }
    const std::uint64_t align = std::max<std::uint64_t>(file.direct_offset_align.value, file.direct_memory_align.value);
    if (align > kMostDirectAlign) {
        return Reason{"direct-alignment-large",
                      fmt::format("direct {}s of the file must be aligned to {}, more than the {} that slots "
                                  "have room for{}",
                                  to_text(direction), size_text(align), size_text(kMostDirectAlign), so)};
    }
    return std::nullopt;
}

// Of what Waybill's own calls do; a route by cuFile may yet come to that.
std::vector<Reason>& own_reasons(Route& route) noexcept {
    return route.engine == EngineKind::cufile ? route.reasons_if_staged : route.reasons;
}

// How a read that Waybill does itself uses the page cache; one by cuFile too, for it may be staged after all.
void choose_page_cache(Route& route, const RouteQuestion& question, const Settings& settings, const FileFacts& file,
                       const MachineFacts& machine) {
    const PageCacheUse wanted = settings.page_cache.value;
    route.page_cache = wanted == PageCacheUse::automatic ? PageCacheUse::use : wanted;
    if (question.direction == Direction::write) {
        return;
    }
    std::vector<Reason>& reasons = own_reasons(route);
    const std::optional<Reason> not_direct = why_not_direct(file, question.direction);
    if (cache_is_in_question(question, settings) && !file.memory_backed) {
        const bool fits = file.size_bytes <= machine.free_memory_bytes / 2;
        route.page_cache = fits ? PageCacheUse::use : PageCacheUse::bypass;
        if (fits || !not_direct) {
            reasons.push_back(
                {fits ? "page-cache-fill" : "page-cache-bypass",
                 machine.free_memory_bytes == 0 && !fits
                     ? "the range is not cached, and how much memory is free is not known"
                     : fmt::format("the range is not cached, and the file of {} {} in half of the {} of free memory",
                                   size_text(file.size_bytes), fits ? "fits" : "does not fit",
                                   size_text(machine.free_memory_bytes))});
        }
    }
    if (route.page_cache != PageCacheUse::use && not_direct) {
        route.page_cache = PageCacheUse::use;
        reasons.push_back(*not_direct);
    }
}

// How a write that Waybill does itself goes past the page cache.
void choose_direct_write(Route& route, const RouteQuestion& question, const Settings& settings, const FileFacts& file) {
    if (question.direction == Direction::read || !settings.direct_write.value) {
        return;
    }
    const std::optional<Reason> not_direct = why_not_direct(file, question.direction);
    route.direct_write = !not_direct;
    if (not_direct) {
        own_reasons(route).push_back(*not_direct);
    }
}

}  // namespace

FactsWanted facts_wanted(const RouteQuestion& question, const Settings& settings) {
    const bool cache = cache_is_in_question(question, settings);
    const PageCacheUse use = settings.page_cache.value;
    const bool read_past_cache = use == PageCacheUse::bypass || use == PageCacheUse::direct;
    const bool past_cache = question.direction == Direction::read ? read_past_cache : settings.direct_write.value;
    return {!route_without_facts(question, settings) || cache || past_cache, cache};
}

Route choose_route(const RouteQuestion& question, const Settings& settings, const FileFacts& file, const MachineFacts& machine,
                   const GpuFacts* gpu) {
    std::optional<Route> own = route_without_facts(question, settings);
    Route route = own ? *std::move(own) : route_by_facts(question, settings, file, machine, gpu);
    choose_page_cache(route, question, settings, file, machine);
    choose_direct_write(route, question, settings, file);
    check_requirement(route, question.require);
    return route;
}

}  // namespace waybill
