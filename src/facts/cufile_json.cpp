#include "facts/cufile_json.hpp"

#include <charconv>
#include <filesystem>

#include "facts/cufile_entries.hpp"
#include "settings/cufile_values.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr const char* kSystemFile = "/etc/cufile.json";
constexpr int kSwitchesFrom = 1160;  // before, use_pci_p2pdma alone decided: 1.15 has no other key of that name

void assign(const CufileValue& value, bool& field) { field = value.value == "true"; }
void assign(const CufileValue& value, std::uint64_t& field) {
    std::from_chars(value.value.data(), value.value.data() + value.value.size(), field);
}

// Puts the value of `path` into its field, and notes where it is from.
template <class Field>
void take(const CufileReading& reading, std::string_view path, Field& field, CufileConfig& config) {
    for (const CufileValue& value : reading.values) {
        if (value.key->path == path) {
            assign(value, field);
            config.origins.emplace_back(path, value.where);
            return;
        }
    }
}

void take_size(const CufileReading& reading, std::string_view path, std::uint64_t& bytes, CufileConfig& config) {
    bytes /= kKiB;
    take(reading, path, bytes, config);
    bytes *= kKiB;
}

// "block.nvme.use_pci_p2pdma" -> block.nvme
std::vector<std::string> switches_of(const CufileReading& reading) {
    constexpr std::string_view kName = ".use_pci_p2pdma";
    std::vector<std::string> switches;
    for (const CufileValue& value : reading.values) {
        const std::string_view path = value.key->path;
        if (path.ends_with(kName) && !path.starts_with("properties.") && value.value == "true") {
            switches.emplace_back(path.substr(0, path.size() - kName.size()));
        }
    }
    return switches;
}

void add_text(CufileConfig& config, const std::string& text, const std::string& path) {
    config.file = path;
    config.files.push_back(path);
    CufileText read = parse_cufile_entries(text, path);
    if (!read.valid && config.valid) {
        config.valid = false;
        config.problem = path + ": " + read.problem;
        config.ends_process = read.ends_process;
    }
    config.entries.insert(config.entries.end(), read.entries.begin(), read.entries.end());
}

void add_file(CufileConfig& config, const MachineRoot& root, const std::string& path) {
    const Fact<std::string> text = root.read(path);
    if (text.known()) {
        add_text(config, text.value, path);
    } else if (path != kSystemFile) {
        config.missing_file = path;
    }
}

// cuFile passes over a file that is not there; a setting of ours that names one is a mistake to be told. On another machine
// this process's variables mean nothing, so there a call alone is heard.
void refuse_missing(const CufileConfig& config, const MachineRoot& root, const Setting<std::string>& setting) {
    if (config.missing_file.empty() || setting.value.empty() || (!root.is_live() && setting.origin != Origin::call)) {
        return;
    }
    const Fact<std::string> text = root.read(config.missing_file);
    throw Error(ErrorCode::bad_setting, (setting.where.empty() ? "the setting cufile_json" : "cufile_json, from " + setting.where + ",") +
                                            " names '" + config.missing_file + "', which cannot be read (" +
                                            (text.absent() ? "no such file" : text.why) + "); name another, or none for cuFile's own search");
}

std::string named_file(const MachineRoot& root, const Settings& settings, const Environment& environment) {
    const std::string* variable = find_variable(environment, "CUFILE_ENV_PATH_JSON");
    std::string path = settings.cufile_json.value.empty() && variable != nullptr ? *variable : settings.cufile_json.value;
    if (!path.empty() && path.front() != '/' && root.is_live()) {
        std::error_code ignored;
        path = std::filesystem::absolute(path, ignored).string();
    }
    return path;
}

}  // namespace

void interpret(CufileConfig& config, const Environment& environment, std::optional<int> version) {
    const CufileReading reading = read_cufile_values(config.entries, environment, version);
    if (config.invalid_by_values) {  // as another version reads them
        config.valid = true;
        config.invalid_by_values = config.ends_process = config.ends_in_read = false;
        config.problem.clear();
    }
    config.refused_values = texts_of(reading, CufileProblem::Kind::refused);
    const std::string ends_at_open = texts_of(reading, CufileProblem::Kind::ends_process);
    const std::string ends_in_read = texts_of(reading, CufileProblem::Kind::ends_read);
    if (config.valid && !(ends_at_open.empty() && ends_in_read.empty())) {
        config.valid = false;
        config.invalid_by_values = config.ends_process = true;
        config.ends_in_read = ends_at_open.empty();
        config.problem = ends_at_open.empty() ? ends_in_read : ends_at_open;
    }
    config.origins.clear();
    take(reading, "execution.max_io_threads", config.max_io_threads, config);
    take(reading, "execution.max_io_queue_depth", config.max_io_queue_depth, config);
    take(reading, "execution.parallel_io", config.parallel_io, config);
    take_size(reading, "execution.min_io_threshold_size_kb", config.min_io_threshold_bytes, config);
    take(reading, "execution.max_request_parallelism", config.max_request_parallelism, config);
    take_size(reading, "properties.max_direct_io_size_kb", config.max_direct_io_bytes, config);
    take(reading, "properties.allow_compat_mode", config.allow_compat_mode, config);
    take(reading, "properties.force_compat_mode", config.force_compat_mode, config);
    take(reading, "properties.use_pci_p2pdma", config.use_pci_p2pdma, config);
    config.p2pdma_switches = switches_of(reading);
    config.p2pdma_needs_switch = version.value_or(kNewestCufile) >= kSwitchesFrom;
}

CufileConfig parse_cufile_config(const std::string& text, const std::string& path, std::optional<int> version) {
    CufileConfig config;
    add_text(config, text, path);
    interpret(config, {}, version);
    return config;
}

CufileConfig read_cufile_config(const MachineRoot& root, const Settings& settings, const Environment& environment, std::optional<int> version) {
    CufileConfig config;
    add_file(config, root, kSystemFile);
    if (const std::string named = named_file(root, settings, environment); !named.empty() && named != kSystemFile) {
        add_file(config, root, named);
        refuse_missing(config, root, settings.cufile_json);
    }
    interpret(config, environment, version);
    return config;
}

}  // namespace waybill
