#include "facts/cufile_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace waybill {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kKiB = 1024;

// Once a file is there, a key that it leaves out has the template's value. The numbers: the shipped cufile.json.
CufileConfig template_values(const std::string& path) {
    CufileConfig config;
    config.file = path;
    config.max_io_threads = 4;
    config.parallel_io = true;
    config.min_io_threshold_bytes = 8192 * kKiB;
    config.max_request_parallelism = 4;
    config.max_direct_io_bytes = 16384 * kKiB;
    config.allow_compat_mode = true;
    return config;
}

const Json* find(const Json& json, const char* section, const char* key) {
    const auto group = json.find(section);
    if (group == json.end() || !group->is_object()) {
        return nullptr;
    }
    const auto value = group->find(key);
    return value == group->end() ? nullptr : &*value;
}

void take(const Json* value, bool& field, CufileConfig& config, const char* name) {
    if (value != nullptr && value->is_boolean()) {
        field = value->get<bool>();
        config.origins.push_back(std::string(name) + ": " + config.file);
    }
}

void take(const Json* value, std::uint64_t& field, std::uint64_t unit, CufileConfig& config, const char* name) {
    if (value != nullptr && value->is_number_unsigned()) {
        field = value->get<std::uint64_t>() * unit;
        config.origins.push_back(std::string(name) + ": " + config.file);
    }
}

// P2PDMA needs a switch of a block driver or a file system besides the general one.
bool any_p2pdma_switch(const Json& json) {
    for (const char* section : {"block", "fs"}) {
        const auto group = json.find(section);
        if (group == json.end() || !group->is_object()) {
            continue;
        }
        for (const auto& [name, entry] : group->items()) {
            const auto value = entry.is_object() ? entry.find("use_pci_p2pdma") : entry.end();
            if (entry.is_object() && value != entry.end() && value->is_boolean() && value->get<bool>()) {
                return true;
            }
        }
    }
    return false;
}

std::optional<bool> variable_as_bool(const Environment& environment, const char* name) {
    const std::string* text = find_variable(environment, name);
    if (text == nullptr) {
        return std::nullopt;
    }
    const std::string word = lower(trim(*text));
    return word == "true" || word == "1" || word == "yes" || word == "on";
}

void take_variable(const Environment& environment, const char* variable, bool& field, CufileConfig& config, const char* name) {
    if (const auto value = variable_as_bool(environment, variable)) {
        field = *value;
        config.origins.push_back(std::string(name) + ": " + variable);
    }
}

}  // namespace

CufileConfig parse_cufile_config(const std::string& text, const std::string& path) {
    CufileConfig config = template_values(path);
    Json json;
    try {
        json = Json::parse(text, nullptr, true, true);
    } catch (const Json::exception& problem) {
        config.valid = false;
        config.problem = problem.what();
        return config;
    }
    if (!json.is_object()) {
        config.valid = false;
        config.problem = "the file holds no object";
        return config;
    }
    take(find(json, "execution", "max_io_threads"), config.max_io_threads, 1, config, "max_io_threads");
    take(find(json, "execution", "max_io_queue_depth"), config.max_io_queue_depth, 1, config, "max_io_queue_depth");
    take(find(json, "execution", "parallel_io"), config.parallel_io, config, "parallel_io");
    take(find(json, "execution", "min_io_threshold_size_kb"), config.min_io_threshold_bytes, kKiB, config, "min_io_threshold_size_kb");
    take(find(json, "execution", "max_request_parallelism"), config.max_request_parallelism, 1, config, "max_request_parallelism");
    take(find(json, "properties", "max_direct_io_size_kb"), config.max_direct_io_bytes, kKiB, config, "max_direct_io_size_kb");
    take(find(json, "properties", "use_compat_mode"), config.allow_compat_mode, config, "allow_compat_mode");
    take(find(json, "properties", "allow_compat_mode"), config.allow_compat_mode, config, "allow_compat_mode");
    take(find(json, "properties", "force_compat_mode"), config.force_compat_mode, config, "force_compat_mode");
    take(find(json, "properties", "use_pci_p2pdma"), config.use_pci_p2pdma, config, "use_pci_p2pdma");
    config.block_p2pdma = any_p2pdma_switch(json);
    return config;
}

CufileConfig read_cufile_config(const MachineRoot& root, const Settings& settings, const Environment& environment,
                                std::optional<int> version) {
    CufileConfig config;  // the library's built-in values
    std::string path = settings.cufile_json.value;
    if (path.empty()) {
        const std::string* variable = find_variable(environment, "CUFILE_ENV_PATH_JSON");
        path = variable != nullptr && !variable->empty() ? *variable : "/etc/cufile.json";
    }
    const Fact<std::string> text = root.read(path);
    if (text.known()) {
        config = parse_cufile_config(text.value, path);
    }
    take_variable(environment, "CUFILE_FORCE_COMPAT_MODE", config.force_compat_mode, config, "force_compat_mode");
    take_variable(environment, "CUFILE_USE_PCIP2PDMA", config.use_pci_p2pdma, config, "use_pci_p2pdma");
    constexpr int kAllowVariableGoneIn = 1170;  // by the names in the libraries: 1.15 and 1.16 alone know it
    if (version && *version < kAllowVariableGoneIn) {
        take_variable(environment, "CUFILE_ALLOW_COMPAT_MODE", config.allow_compat_mode, config, "allow_compat_mode");
    }
    return config;
}

}  // namespace waybill
