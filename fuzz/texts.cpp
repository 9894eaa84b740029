// One fuzzer for every parser of text or bytes; the program's name (a link to it, scripts/fuzz.sh) says which, and without such a
// name the first byte chooses. None may throw anything but Error, read out of bounds, or hang.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/root.hpp"
#include "evidence/nvidia_fs_stats.hpp"
#include "evidence/process_io.hpp"
#include "facts/cufile_json.hpp"
#include "facts/cufile_library.hpp"
#include "facts/mount.hpp"
#include "facts/needed_libraries.hpp"
#include "facts/nvidia_fs.hpp"
#include "facts/pci.hpp"
#include "facts/save.hpp"
#include "facts/saved_facts.hpp"
#include "facts/udev.hpp"
#include "settings/config_file.hpp"
#include "settings/resolve.hpp"
#include "settings/table.hpp"
#include "waybill/error.hpp"

namespace {

// Positions, values and contradictions of two versions; the same text over itself.
void try_cufile(const std::string& text) {
    auto config = waybill::parse_cufile_config(text, "fuzz");
    config.entries.insert(config.entries.end(), config.entries.begin(), config.entries.end());
    waybill::interpret(config, {{"CUFILE_MAX_DEVICE_CACHE_SIZE", text}, {"CUFILE_" + text, "x"}}, 1150);
}

void try_mounts(const std::string& text) {
    const auto mounts = waybill::parse_mounts(text, "fuzz");
    (void)waybill::mount_of_path(mounts.value, "/a/b");
}

void try_nvidia_fs(const std::string& text) {
    (void)waybill::parse_nvidia_fs_stats(text);
    (void)waybill::nvidia_fs_version_in_stats(text);
    (void)waybill::nvidia_fs_modules(text);
}

void try_settings(const std::string& text) {
    for (const waybill::SettingEntry& entry : waybill::setting_table()) {
        try {
            (void)waybill::resolve({{{std::string(entry.name), text}}, {}}, {}, {});
        } catch (const waybill::Error&) {
        }
    }
}

// A library: what it needs, and which version it is by its texts; the version is read piece by piece from a file.
void try_elf(const std::string& text) {
    (void)waybill::needed_libraries(text);
    // Never destroyed, because the end of the process still needs it.
    static const std::string& folder = *new std::string([] {
        std::string name = (std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/waybill-fuzz-XXXXXX");
        const std::string made = ::mkdtemp(name.data());
        std::atexit([] { std::filesystem::remove_all(folder); });
        return made;
    }());
    std::ofstream(folder + "/libcufile.so.0") << text;
    (void)waybill::cufile_version_of(waybill::MachineRoot(folder), "/libcufile.so.0");
}

struct Parser {
    const char* name;
    void (*run)(const std::string& text);
};

constexpr Parser kParsers[] = {
    {"size", [](const std::string& text) { (void)waybill::parse_size(text, "fuzz"); }},
    {"config", [](const std::string& text) { (void)waybill::parse_config(text, "fuzz"); }},
    {"cufile", &try_cufile},
    {"mounts", &try_mounts},
    {"nvidia-fs", &try_nvidia_fs},
    {"process-io", [](const std::string& text) { (void)waybill::parse_process_io(text); }},
    {"pci", [](const std::string& text) { (void)waybill::acs_redirects(text, "fuzz"); }},
    {"saved-facts", [](const std::string& text) { (void)waybill::parse_saved_facts(text, "fuzz"); }},
    {"scrub", [](const std::string& text) { (void)waybill::scrub(text, waybill::Secrets{}); }},
    {"udev", [](const std::string& text) { (void)waybill::udev_usage(text); }},
    {"elf", &try_elf},
    {"settings", &try_settings},
};

const Parser* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
    const char* slash = std::strrchr((*arguments)[0], '/');
    const std::string name = slash == nullptr ? (*arguments)[0] : slash + 1;
    const auto* const found = std::find_if(std::begin(kParsers), std::end(kParsers), [&](const Parser& parser) { return parser.name == name; });
    chosen = found == std::end(kParsers) ? nullptr : found;
    if (name == "list") {
        for (const Parser& parser : kParsers) {
            std::puts(parser.name);
        }
        std::exit(0);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (chosen == nullptr && size == 0) {
        return 0;
    }
    const Parser& parser = chosen != nullptr ? *chosen : kParsers[bytes[0] % std::size(kParsers)];
    const std::size_t skipped = chosen != nullptr ? 0 : 1;
    try {
        parser.run(std::string(reinterpret_cast<const char*>(bytes) + skipped, size - skipped));
    } catch (const waybill::Error&) {
    }
    return 0;
}
