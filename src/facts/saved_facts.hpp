// waybill-facts.json: what no file of a saved machine tells. docs/machines.md gives the format.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

struct SavedFile {
    std::optional<std::uint64_t> size_bytes;
    std::optional<bool> direct_open;
    std::optional<std::uint32_t> direct_offset_align;
    std::optional<std::uint32_t> direct_memory_align;
};

struct SavedFacts {
    std::vector<GpuFacts> gpus;
    std::optional<int> cufile_version;  // 1000*major + 10*minor
    std::optional<std::vector<std::string>> missing_dependencies;
    std::optional<bool> modules_readable;
    std::optional<std::uint64_t> memlock_bytes;
    Environment environment;
    std::map<std::string, SavedFile> files;  // by path
};

// Of `root`/waybill-facts.json; empty where there is none. Throws Error bad_setting, naming the file and the place, when it is
// not understood.
[[nodiscard]] SavedFacts read_saved_facts(const MachineRoot& root);
[[nodiscard]] SavedFacts parse_saved_facts(const std::string& text, const std::string& name);
[[nodiscard]] std::string saved_facts_json(const SavedFacts& facts);

// What the machine's files told gives way to what was saved.
void apply(const SavedFacts& saved, FileFacts& file);
void apply(const SavedFacts& saved, MachineFacts& machine);
void apply(const SavedFacts& saved, SurroundingFacts& surroundings);

}  // namespace waybill
