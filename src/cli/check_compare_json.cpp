#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "cli/check_compare.hpp"
#include "facts/scrub.hpp"

namespace waybill {
namespace {

using Json = nlohmann::json;

// Leaves by their place: findings by id, so that their order is no change.
void flatten(const Json& json, const std::string& place, std::map<std::string, std::string>& leaves) {
    if (json.is_object()) {
        for (const auto& [key, value] : json.items()) {
            flatten(value, place.empty() ? key : place + "." + key, leaves);
        }
    } else if (json.is_array() && std::any_of(json.begin(), json.end(), [](const Json& item) { return item.is_object(); })) {
        for (std::size_t k = 0; k < json.size(); ++k) {
            flatten(json[k], place + "." + (json[k].is_object() && json[k].contains("id") && json[k]["id"].is_string()
                                                ? json[k]["id"].get<std::string>()
                                                : std::to_string(k)),
                    leaves);
        }
    } else {
        leaves[place] = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
}

bool is_of_the_moment(const std::string& place) {
    constexpr std::string_view kParts[] = {"free_memory_bytes", "machine.cores", "machine.root", ".source", ".why", ".uuid", "file.path", "facts.file.mount.id",
                                           "link_gt_per_s", "probe", ".seen", ".text", ".fix",
                                           ".not_needed", "route.reasons", "facts.gpu.gpu_direct_rdma"};
    if (place == "facts.file.mount.source") {
        return false;  // what is mounted, not where a fact is from
    }
    return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
        return part.front() == '.' ? place.ends_with(part) : place.find(part) != std::string::npos;
    });
}

// The kernel gives the options of the mount and of its file system one after the other, some of them twice.
std::string sorted_options(const std::string& options) {
    std::set<std::string_view> words;
    for (const std::string_view word : split(options, ',')) {
        words.insert(word);
    }
    return join({words.begin(), words.end()}, ",");
}

// A saved state has no names and addresses; so that they are no change, neither side has them here.
std::map<std::string, std::string> leaves_of(const CheckReport& report, const Secrets& secrets) {
    Json json = Json::parse(to_json(report));
    if (Json& mount = json["facts"]["file"]["mount"]; mount.is_object()) {
        // As it stands in the table of mounts, where servers are known by their place.
        const auto scrubbed = scrub(" - " + mount["file_system"].get<std::string>() + " " + mount["source"].get<std::string>(), secrets);
        mount["source"] = scrubbed.substr(4 + mount["file_system"].get<std::string>().size());
        mount["options"] = sorted_options(scrub(mount["options"].get<std::string>(), secrets));
    }
    std::map<std::string, std::string> leaves;
    flatten(json, "", leaves);
    std::erase_if(leaves, [](const auto& leaf) { return is_of_the_moment(leaf.first); });
    for (auto& [place, value] : leaves) {
        value = scrub(value, secrets);
    }
    return leaves;
}

}  // namespace

std::vector<Change> changes_between(const CheckReport& before, const CheckReport& after) {
    const Secrets secrets = Secrets::of_this_machine();
    const auto old = leaves_of(before, secrets);
    const auto now = leaves_of(after, secrets);
    std::set<std::string> places;
    for (const auto& [place, value] : old) {
        places.insert(place);
    }
    for (const auto& [place, value] : now) {
        places.insert(place);
    }
    std::vector<Change> changes;
    for (const std::string& place : places) {
        const auto was = old.find(place);
        const auto is = now.find(place);
        const std::string before_text = was == old.end() ? "" : was->second;
        const std::string after_text = is == now.end() ? "" : is->second;
        if (before_text != after_text) {
            changes.push_back({place, before_text, after_text});
        }
    }
    return changes;
}

std::string changes_json(const std::vector<Change>& changes) {
    Json json{{"schema", "waybill.changes/1"}, {"changed", !changes.empty()}, {"changes", Json::array()}};
    for (const Change& change : changes) {
        json["changes"].push_back({{"where", change.where}, {"before", change.before}, {"after", change.after}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waybill
