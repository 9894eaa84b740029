// One fuzzer for every parser of text: the first byte chooses which, the rest is its text. None may throw anything but Error,
// read out of bounds, or hang.
#include <cstddef>
#include <cstdint>
#include <string>

#include "evidence/nvidia_fs_stats.hpp"
#include "evidence/process_io.hpp"
#include "facts/cufile_json.hpp"
#include "facts/mount.hpp"
#include "facts/pci.hpp"
#include "facts/save.hpp"
#include "facts/saved_facts.hpp"
#include "settings/config_file.hpp"
#include "settings/resolve.hpp"
#include "settings/table.hpp"
#include "waybill/error.hpp"

namespace {

void try_settings(const std::string& text) {
    for (const waybill::SettingEntry& entry : waybill::setting_table()) {
        try {
            (void)waybill::resolve({{{std::string(entry.name), text}}, {}}, {}, {});
        } catch (const waybill::Error&) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string text(reinterpret_cast<const char*>(bytes + 1), size - 1);
    try {
        switch (bytes[0] % 10) {
            case 0: (void)waybill::parse_size(text, "fuzz"); break;
            case 1: (void)waybill::parse_config(text, "fuzz"); break;
            case 2: {
                // Positions, values and contradictions of two versions; the same text over itself.
                auto config = waybill::parse_cufile_config(text, "fuzz");
                config.entries.insert(config.entries.end(), config.entries.begin(), config.entries.end());
                waybill::interpret(config, {{"CUFILE_MAX_DEVICE_CACHE_SIZE", text}, {"CUFILE_" + text, "x"}}, 1150);
                break;
            }
            case 3: {
                const auto mounts = waybill::parse_mounts(text, "fuzz");
                (void)waybill::mount_of_path(mounts.value, "/a/b");
                break;
            }
            case 4: (void)waybill::parse_nvidia_fs_stats(text); break;
            case 5: (void)waybill::parse_process_io(text); break;
            case 6: (void)waybill::acs_redirects(text, "fuzz"); break;
            case 7: (void)waybill::parse_saved_facts(text, "fuzz"); break;
            case 8: (void)waybill::scrub(text, waybill::Secrets{}); break;
            default: try_settings(text); break;
        }
    } catch (const waybill::Error&) {
    }
    return 0;
}
