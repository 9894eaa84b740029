#include "settings/resolve.hpp"

#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/text.hpp"
#include "settings/table.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

struct Found {
    std::string text;
    Origin origin = Origin::built_in;
    std::string where;
};

const std::string* find_value(const SettingValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
}

// An empty variable is one that is not set, as for most programs: `WAYBILL_TASK_SIZE= program` takes a setting away.
const std::string* find_set_variable(const Environment& environment, std::string_view name) {
    const std::string* const text = find_variable(environment, name);
    return text == nullptr || text->empty() ? nullptr : text;
}

// KvikIO's variables; where a setting has two, they must say the same.
std::optional<Found> find_kvikio(const SettingEntry& entry, const Environment& environment) {
    std::optional<Found> found;
    for (const std::string_view name : entry.kvikio_variables) {
        const std::string* text = find_set_variable(environment, name);
        if (text == nullptr) {
            continue;
        }
        if (found && found->text != *text) {
            throw Error(ErrorCode::bad_setting, found->where + "='" + found->text + "' and " + std::string(name) + "='" + *text +
                                                    "' mean the same setting and differ; keep one");
        }
        found = Found{*text, Origin::kvikio_variable, std::string(name)};
    }
    return found;
}

Found find(const SettingEntry& entry, const SettingLayers& layers, const Environment& environment, const ConfigFile& file) {
    if (const std::string* text = find_value(layers.call, entry.name)) {
        return {*text, Origin::call, {}};
    }
    if (const std::string* text = find_value(layers.context, entry.name)) {
        return {*text, Origin::context, {}};
    }
    if (const std::string* text = find_set_variable(environment, entry.variable)) {
        return {*text, Origin::waybill_variable, std::string(entry.variable)};
    }
    if (const auto found = find_kvikio(entry, environment)) {
        return *found;
    }
    if (const std::string* text = find_value(file.values, entry.name)) {
        return {*text, Origin::config_file, file.path};
    }
    return {std::string(entry.default_text), Origin::built_in, {}};
}

std::string place_of(const SettingEntry& entry, const Found& found) {
    switch (found.origin) {
        case Origin::waybill_variable:
        case Origin::kvikio_variable: return "the variable " + found.where;
        case Origin::config_file: return "'" + std::string(entry.name) + "' in " + found.where;
        default: return "the setting " + std::string(entry.name);
    }
}

void check_names(const SettingValues& values, const std::string& place) {
    for (const auto& [name, text] : values) {
        if (find_setting(name) != nullptr) {
            continue;
        }
        std::vector<std::string> known;
        for (const SettingEntry& entry : setting_table()) {
            known.emplace_back(entry.name);
        }
        const std::string meant = nearest(name, known);
        throw Error(ErrorCode::bad_setting,
                    place + ": there is no setting '" + name + "'" +
                        (meant.empty() ? "; `waybill config` lists all" : "; did you mean '" + meant + "'?"));
    }
}

}  // namespace

Settings resolve(const SettingLayers& layers, const Environment& environment, const ConfigFile& file) {
    check_names(layers.call, "call");
    check_names(layers.context, "context");
    check_names(file.values, file.path);
    Settings settings;
    for (const SettingEntry& entry : setting_table()) {
        const Found found = find(entry, layers, environment, file);
        if (const auto nul = found.text.find('\0'); nul != std::string::npos) {
            throw Error(ErrorCode::bad_setting, place_of(entry, found) + " has a NUL character after '" + found.text.substr(0, nul) +
                                                    "'; no value can hold one");
        }
        try {
            entry.assign(settings, found.text, found.origin, found.where);
        } catch (const Error&) {
            throw Error(ErrorCode::bad_setting, place_of(entry, found) + " has the value '" + found.text + "'; accepted: " +
                                                    std::string(entry.accepted));
        }
    }
    return settings;
}

namespace {

// The entries of the environment that settings depend on, as one text.
std::string environment_key() {
    return environment_entries({"WAYBILL_", "KVIKIO_", "HOME=", "XDG_CONFIG_HOME="});
}

Environment parse_environment(const std::string& key) {
    Environment environment;
    for (const std::string_view entry : split(key, '\0')) {
        if (const auto equals = entry.find('='); equals != std::string_view::npos) {
            environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
        }
    }
    return environment;
}

struct Kept {
    std::mutex mutex;
    std::string key;
    std::uint64_t since_ns = 0;
    std::shared_ptr<const Settings> settings;
};
ForkLocal<Kept> the_kept;

}  // namespace

Settings resolve_settings(const SettingLayers& layers) {
    const Environment environment = parse_environment(environment_key());
    return resolve(layers, environment, read_config_file(environment));
}

std::shared_ptr<const Settings> shared_settings(const SettingLayers& layers) {
    if (!layers.call.empty() || !layers.context.empty()) {
        return std::make_shared<const Settings>(resolve_settings(layers));
    }
    constexpr std::uint64_t kKeepNs = 1'000'000'000;
    std::string key = environment_key();
    Kept& kept = the_kept.get();
    const std::lock_guard lock(kept.mutex);
    const std::uint64_t now = now_ns();
    if (!kept.settings || kept.key != key || now - kept.since_ns > kKeepNs) {
        kept.settings = std::make_shared<const Settings>(resolve_settings());
        kept.key = std::move(key);
        kept.since_ns = now;
    }
    return kept.settings;
}

std::vector<SettingRow> setting_rows(const Settings& settings) {
    std::vector<SettingRow> rows;
    for (const SettingEntry& entry : setting_table()) {
        const std::string where = entry.where(settings);
        rows.push_back({std::string(entry.name), entry.value_text(settings),
                        where.empty() ? std::string(to_text(entry.origin(settings))) : where});
    }
    return rows;
}

std::string_view to_text(CompatMode mode) noexcept {
    switch (mode) {
        case CompatMode::automatic: return "auto";
        case CompatMode::on: return "on";
        case CompatMode::off: return "off";
    }
    return "";
}

std::string_view to_text(PageCacheUse use) noexcept {
    switch (use) {
        case PageCacheUse::automatic: return "auto";
        case PageCacheUse::use: return "use";
        case PageCacheUse::bypass: return "bypass";
        case PageCacheUse::direct: return "direct";
    }
    return "";
}

std::string_view to_text(EvidenceLevel level) noexcept {
    switch (level) {
        case EvidenceLevel::off: return "off";
        case EvidenceLevel::automatic: return "auto";
        case EvidenceLevel::on: return "on";
    }
    return "";
}

std::string_view to_text(RequiredJudgement judgement) noexcept {
    return judgement == RequiredJudgement::proved ? "proved" : "consistent";
}

std::string_view to_text(Origin origin) noexcept {
    switch (origin) {
        case Origin::call: return "call";
        case Origin::context: return "context";
        case Origin::waybill_variable: return "variable";
        case Origin::kvikio_variable: return "KvikIO variable";
        case Origin::config_file: return "file";
        case Origin::built_in: return "default";
    }
    return "";
}

}  // namespace waybill
