#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <limits>

#include "facts/saved_facts.hpp"
#include "settings/cufile_keys.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "waybill.facts/1";
constexpr std::uint64_t kMostGpus = 1023;
constexpr std::uint64_t kMostAlign = std::uint64_t{1} << 30;

template <class T>
std::optional<T> take(const Json& json, const char* key) {
    const auto value = json.find(key);
    return value == json.end() || value->is_null() ? std::nullopt : std::optional<T>(value->get<T>());
}

// A whole number from 0 to `most`; a conversion of JSON's would cut others to something that they are not.
std::optional<std::uint64_t> whole_number(const Json& json, const char* key, std::uint64_t most) {
    const auto value = json.find(key);
    if (value == json.end() || value->is_null()) {
        return std::nullopt;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
        throw std::invalid_argument(fmt::format("{} is {}; give a whole number from 0 to {}", key, value->dump(), most));
    }
    return value->get<std::uint64_t>();
}

// The value of `key`, which must be of the type that `otherwise` has; that where it is not there.
Json part_of(const Json& json, const char* key, const Json& otherwise) {
    Json part = json.value(key, otherwise);
    if (part.type() != otherwise.type()) {
        throw std::invalid_argument(fmt::format("{} must be an {}", key, otherwise.type_name()));
    }
    return part;
}

GpuFacts gpu_of(const Json& json) {
    if (!json.is_object()) {
        throw std::invalid_argument("each of gpus must be an object");
    }
    GpuFacts gpu;
    gpu.device = static_cast<int>(whole_number(json, "device", kMostGpus).value_or(0));
    gpu.present = known_fact(true, "waybill-facts.json");
    gpu.name = take<std::string>(json, "name").value_or("");
    gpu.uuid = take<std::string>(json, "uuid").value_or("");
    gpu.pci_address = take<std::string>(json, "pci_address").value_or("");
    const auto rdma = take<bool>(json, "gpu_direct_rdma");
    gpu.gpu_direct_rdma = rdma ? known_fact(*rdma, "waybill-facts.json") : unknown_fact<bool>("waybill-facts.json", "not saved");
    return gpu;
}

// "1.15.1" or 1150 -> 1150
int version_of(const Json& json) {
    const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
    std::optional<int> version;
    if (!json.is_number_integer()) {
        version = parse_cufile_version(text);
    } else if (const auto number = json.get<std::int64_t>(); number > 0 && number <= kMostCufileVersion) {
        version = static_cast<int>(number);
    }
    if (!version) {
        throw std::invalid_argument("cufile.version is '" + text + "'; write it as 1.15");
    }
    return *version;
}

SavedFile file_of(const Json& json) {
    if (!json.is_object()) {
        throw std::invalid_argument("each of files must be an object");
    }
    const auto align = [&](const char* key) -> std::optional<std::uint32_t> { return whole_number(json, key, kMostAlign); };
    return {whole_number(json, "size_bytes", std::numeric_limits<std::int64_t>::max()), take<bool>(json, "direct_open"),
            align("direct_offset_align"), align("direct_memory_align")};
}

SavedFacts facts_of(const Json& json) {
    if (take<std::string>(json, "schema").value_or("") != kSchema) {
        throw std::invalid_argument(fmt::format("schema must be \"{}\"", kSchema));
    }
    SavedFacts facts;
    const Json gpus = part_of(json, "gpus", Json::array());
    for (const Json& gpu : gpus) {
        facts.gpus.push_back(gpu_of(gpu));
    }
    const Json cufile = part_of(json, "cufile", Json::object());
    if (const auto version = cufile.find("version"); version != cufile.end() && !version->is_null()) {
        facts.cufile_version = version_of(*version);
    }
    facts.missing_dependencies = take<std::vector<std::string>>(cufile, "missing_dependencies");
    facts.modules_readable = take<bool>(json, "modules_readable");
    facts.memlock_bytes = whole_number(part_of(json, "limits", Json::object()), "memlock_bytes", std::numeric_limits<std::uint64_t>::max());
    // Named, because items() refers to what it is called on.
    const Json environment = part_of(json, "environment", Json::object());
    const Json files = part_of(json, "files", Json::object());
    for (const auto& [name, value] : environment.items()) {
        facts.environment.emplace(name, value.get<std::string>());
    }
    for (const auto& [path, file] : files.items()) {
        facts.files.emplace(path, file_of(file));
    }
    return facts;
}

// Copies and texts of a value take stack for each level.
bool refuse_depth(int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    constexpr int kMostDepth = 8;
    if (depth > kMostDepth) {
        throw std::invalid_argument(fmt::format("it is nested more than {} levels deep", kMostDepth));
    }
    return true;
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
    if (value) {
        json[key] = *value;
    }
}

}  // namespace

SavedFacts parse_saved_facts(const std::string& text, const std::string& name) {
    try {
        return facts_of(Json::parse(text, refuse_depth, true, true));
    } catch (const std::exception& problem) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} is not understood: {}; docs/machines.md gives its format", name, problem.what()));
    }
}

std::string saved_facts_json(const SavedFacts& facts) {
    Json json;
    json["schema"] = kSchema;
    json["gpus"] = Json::array();
    for (const GpuFacts& gpu : facts.gpus) {
        Json entry{{"device", gpu.device}, {"name", gpu.name}, {"pci_address", gpu.pci_address}};
        if (gpu.gpu_direct_rdma.known()) {
            entry["gpu_direct_rdma"] = gpu.gpu_direct_rdma.value;
        }
        json["gpus"].push_back(std::move(entry));
    }
    json["cufile"] = Json::object();
    put(json["cufile"], "version", facts.cufile_version);
    put(json["cufile"], "missing_dependencies", facts.missing_dependencies);
    put(json, "modules_readable", facts.modules_readable);
    json["limits"] = Json::object();
    put(json["limits"], "memlock_bytes", facts.memlock_bytes);
    json["environment"] = Json(facts.environment);
    json["files"] = Json::object();
    for (const auto& [path, file] : facts.files) {
        Json& entry = json["files"][path] = Json::object();
        put(entry, "size_bytes", file.size_bytes);
        put(entry, "direct_open", file.direct_open);
        put(entry, "direct_offset_align", file.direct_offset_align);
        put(entry, "direct_memory_align", file.direct_memory_align);
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace waybill
