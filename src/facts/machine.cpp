#include "facts/machine.hpp"

#include <cctype>

#include "base/text.hpp"
#include "facts/cufile_json.hpp"
#include "facts/cufile_library.hpp"
#include "facts/host.hpp"
#include "facts/limits.hpp"
#include "facts/needed_libraries.hpp"
#include "facts/nvidia_fs.hpp"
#include "facts/p2pdma.hpp"

namespace waybill {
namespace {

CufileFacts gather_cufile(const MachineRoot& root, const Settings& settings, const Environment& environment) {
    CufileFacts facts;
    facts.library = find_cufile_library(root, settings, environment);
    // What LD_LIBRARY_PATH names is this machine's, whatever the root.
    const MachineRoot live;
    const bool of_process = facts.library.source == "LD_LIBRARY_PATH";
    const MachineRoot& place = of_process ? live : root;
    if (facts.library.known()) {
        facts.version = cufile_version_of(place, facts.library.value);
        facts.missing_dependencies = missing_libraries(place, facts.library.value, loader_folders(place, environment));
    } else {
        facts.version = absent_fact<int>(facts.library.source);
        facts.missing_dependencies = absent_fact<std::vector<std::string>>(facts.library.source);
    }
    facts.config = read_cufile_config(root, settings, environment,
                                      facts.version.known() ? std::optional(facts.version.value) : std::nullopt);
    return facts;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ..." -> 580.65.06
Fact<std::string> read_nvidia_driver(const MachineRoot& root) {
    Fact<std::string> text = root.read("/proc/driver/nvidia/version");
    if (!text.known()) {
        return text;
    }
    for (const std::string_view word : split(text.value.substr(0, text.value.find('\n')), ' ')) {
        if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0 &&
            word.find('.') != std::string_view::npos) {
            return known_fact(std::string(word), text.source);
        }
    }
    return unknown_fact<std::string>(text.source, "no version in its first line");
}

}  // namespace

MachineFacts gather_machine(const MachineRoot& root, const Settings& settings, const Environment& environment) {
    MachineFacts facts;
    facts.root = root.name();
    facts.kernel = read_kernel_release(root);
    facts.modules_readable = root.read("/proc/modules").known() ? known_fact(true, "/proc/modules")
                                                                 : absent_fact<bool>("/proc/modules");
    facts.udev_database = root.exists("/run/udev/data");
    facts.nvidia_fs = read_nvidia_fs(root);
    facts.p2pdma = read_p2pdma(root, facts.kernel.value);
    facts.cufile = gather_cufile(root, settings, environment);
    facts.nvidia_driver = read_nvidia_driver(root);
    facts.free_memory_bytes = free_memory_bytes(root);
    facts.cores = usable_cores(root);
    facts.container = find_container(root);
    facts.wsl = is_wsl(facts.kernel.value);
    return facts;
}

}  // namespace waybill
