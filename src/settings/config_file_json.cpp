#include <sys/stat.h>

#include <set>

#include <nlohmann/json.hpp>

#include "base/root.hpp"
#include "settings/config_file.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::string value_text(const nlohmann::json& value, const std::string& key, const std::string& path) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_boolean() || value.is_number()) {
        return value.dump();
    }
    throw Error(ErrorCode::bad_setting,
                path + ": the value of '" + key + "' is neither a text, a number nor true or false; write it as in \"16MiB\"");
}

std::string first_existing(const Environment& environment, bool& named) {
    if (const std::string* path = find_variable(environment, "WAYBILL_CONFIG"); path != nullptr && !path->empty()) {
        named = true;
        return *path;
    }
    std::vector<std::string> candidates;
    if (const std::string* folder = find_variable(environment, "XDG_CONFIG_HOME"); folder != nullptr && !folder->empty()) {
        candidates.push_back(*folder + "/waybill/config.json");
    }
    if (const std::string* home = find_variable(environment, "HOME"); home != nullptr && !home->empty()) {
        candidates.push_back(*home + "/.config/waybill/config.json");
    }
    candidates.emplace_back("/etc/waybill.json");
    const MachineRoot root;
    for (const std::string& candidate : candidates) {
        if (root.exists(candidate).known()) {
            return candidate;
        }
    }
    return {};
}

}  // namespace

SettingValues parse_config(const std::string& text, const std::string& path) {
    nlohmann::json json;
    std::set<std::string> keys;
    const auto refuse_second = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        if (event == nlohmann::json::parse_event_t::key && depth == 1 && !keys.insert(parsed.get<std::string>()).second) {
            throw Error(ErrorCode::bad_setting, path + ": '" + parsed.get<std::string>() + "' is there twice; keep one");
        }
        return true;
    };
    try {
        json = nlohmann::json::parse(text, refuse_second, true, true);
    } catch (const nlohmann::json::exception& problem) {
        throw Error(ErrorCode::bad_setting, path + " is not JSON: " + problem.what());
    }
    if (!json.is_object()) {
        throw Error(ErrorCode::bad_setting, path + ": an object such as {\"task_size\": \"16MiB\"} is wanted");
    }
    SettingValues values;
    for (const auto& [key, value] : json.items()) {
        values.emplace(key, value_text(value, key, path));
    }
    return values;
}

ConfigFile read_config_file(const Environment& environment) {
    ConfigFile file;
    bool named = false;
    file.path = first_existing(environment, named);
    if (file.path.empty()) {
        return file;
    }
    const std::string what = std::string(named ? "WAYBILL_CONFIG: " : "") + "the configuration file '" + file.path + "'";
    struct stat state {};
    if (::stat(file.path.c_str(), &state) == 0 && !S_ISREG(state.st_mode)) {
        throw Error(ErrorCode::bad_setting, what + " is " + std::string(kind_of_file(state.st_mode)) + "; name a plain file");
    }
    const Fact<std::string> text = MachineRoot().read(file.path);
    if (!text.known()) {
        throw Error(ErrorCode::bad_setting, what + " cannot be read (" + (text.absent() ? "no such file" : text.why) + ")");
    }
    file.values = parse_config(text.value, file.path);
    return file;
}

}  // namespace waybill
