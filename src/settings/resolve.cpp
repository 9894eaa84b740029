#include "settings/resolve.hpp"

#include <optional>

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

// KvikIO's variables; where a setting has two, they must say the same.
std::optional<Found> find_kvikio(const SettingEntry& entry, const Environment& environment) {
    std::optional<Found> found;
    for (const std::string_view name : entry.kvikio_variables) {
        const std::string* text = find_variable(environment, name);
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
    if (const std::string* text = find_variable(environment, entry.variable)) {
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
        try {
            entry.assign(settings, found.text, found.origin, found.where);
        } catch (const Error&) {
            throw Error(ErrorCode::bad_setting, place_of(entry, found) + " has the value '" + found.text + "'; accepted: " +
                                                    std::string(entry.accepted));
        }
    }
    return settings;
}

Settings resolve_settings(const SettingLayers& layers) {
    // The variables that matter, not the whole environment: this runs at every open.
    Environment environment;
    for (auto& [name, text] : process_environment()) {
        if (name.starts_with("WAYBILL_") || name.starts_with("KVIKIO_") || name == "HOME" || name == "XDG_CONFIG_HOME") {
            environment.emplace(name, text);
        }
    }
    return resolve(layers, environment, read_config_file(environment));
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
