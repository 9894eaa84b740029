#include "facts/saved_facts.hpp"

#include "facts/cufile_json.hpp"

namespace waybill {
namespace {

constexpr const char* kSource = "waybill-facts.json";

}  // namespace

SavedFacts read_saved_facts(const MachineRoot& root) {
    const Fact<std::string> text = root.is_live() ? absent_fact<std::string>(kSource) : root.read("/waybill-facts.json");
    return text.known() ? parse_saved_facts(text.value, root.name() + "/" + kSource) : SavedFacts{};
}

void apply(const SavedFacts& saved, FileFacts& file) {
    const auto found = saved.files.find(file.resolved);
    if (found == saved.files.end()) {
        return;
    }
    const SavedFile& facts = found->second;
    file.size_bytes = facts.size_bytes.value_or(file.size_bytes);
    if (facts.direct_open) {
        file.direct_open = *facts.direct_open ? known_fact(true, kSource) : absent_fact<bool>(kSource);
    }
    if (facts.direct_offset_align) {
        file.direct_offset_align = known_fact(*facts.direct_offset_align, kSource);
    }
    if (facts.direct_memory_align) {
        file.direct_memory_align = known_fact(*facts.direct_memory_align, kSource);
    }
}

void apply(const SavedFacts& saved, MachineFacts& machine) {
    if (saved.cufile_version) {
        machine.cufile.version = known_fact(*saved.cufile_version, kSource);
        interpret(machine.cufile.config, saved.environment, saved.cufile_version);
    }
    if (saved.missing_dependencies) {
        machine.cufile.missing_dependencies = saved.missing_dependencies->empty() ? absent_fact<std::vector<std::string>>(kSource)
                                                                                  : known_fact(*saved.missing_dependencies, kSource);
    }
    if (saved.modules_readable) {
        machine.modules_readable = *saved.modules_readable ? known_fact(true, kSource) : absent_fact<bool>(kSource);
    }
}

void apply(const SavedFacts& saved, SurroundingFacts& surroundings) {
    if (!saved.gpus.empty()) {
        surroundings.gpus = saved.gpus;
    }
    if (saved.memlock_bytes) {
        surroundings.memlock_bytes = known_fact(*saved.memlock_bytes, kSource);
    }
}

}  // namespace waybill
