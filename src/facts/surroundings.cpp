#include "facts/surroundings.hpp"

#include <algorithm>

#include "base/device_name.hpp"
#include "base/text.hpp"
#include "facts/cufile_library.hpp"
#include "facts/limits.hpp"
#include "facts/pci.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

Fact<std::string> find_virtual_machine(const MachineRoot& root) {
    constexpr std::pair<std::string_view, std::string_view> kVendors[] = {
        {"QEMU", "KVM"},          {"VMware", "VMware"},         {"innotek", "VirtualBox"}, {"Xen", "Xen"},
        {"Google", "Google"},     {"Amazon EC2", "Amazon EC2"}, {"Firecracker", "Firecracker"},
        {"Virtual Machine", "Hyper-V"}};
    const Fact<std::string> flags = root.read("/proc/cpuinfo");
    const bool hypervisor = flags.value.find(" hypervisor") != std::string::npos;
    for (const char* path : {"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"}) {
        const Fact<std::string> text = root.read(path);
        for (const auto& [word, name] : kVendors) {
            // Clouds give the same names to machines without a hypervisor: the processor has the last word.
            if (text.value.find(word) != std::string::npos && (hypervisor || !flags.known())) {
                return known_fact(std::string(name), path);
            }
        }
    }
    if (hypervisor) {
        return known_fact<std::string>("a hypervisor", "/proc/cpuinfo");
    }
    return flags.known() ? absent_fact<std::string>("/proc/cpuinfo") : unknown_fact<std::string>("/proc/cpuinfo", "not there");
}

// Which version of its registration the nvme driver exports for nvidia-fs (NVIDIA/gds-nvidia-fs, issue 87).
Fact<std::string> read_nvme_symbol(const MachineRoot& root) {
    constexpr const char* kPath = "/proc/kallsyms";
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    const Fact<std::string> symbols = root.read(kPath, kMostBytes);
    if (!symbols.known()) {
        return symbols;
    }
    const auto at = symbols.value.find("_register_nvfs_dma_ops");
    if (at == std::string::npos) {
        return known_fact<std::string>("none", kPath);
    }
    for (auto place = at; place != std::string::npos; place = symbols.value.find("_register_nvfs_dma_ops", place + 1)) {
        const auto begin = symbols.value.rfind(' ', place) + 1;
        const std::string_view name = std::string_view(symbols.value).substr(begin, place - begin);
        if (name.starts_with("nvme_v")) {
            return known_fact(std::string(name.substr(5)), kPath);
        }
    }
    return known_fact<std::string>("none", kPath);
}

const GpuFacts* gpu_numbered(const std::vector<GpuFacts>& gpus, int device) {
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const GpuFacts& gpu) { return gpu.device == device; });
    return found == gpus.end() ? nullptr : &*found;
}

bool is_order_uncertain(const std::vector<GpuFacts>& gpus, const Environment& environment) {
    const std::string* order = find_variable(environment, "CUDA_DEVICE_ORDER");
    const bool by_bus = order != nullptr && *order == "PCI_BUS_ID";
    return gpus.size() > 1 && !by_bus;
}

// CUDA_VISIBLE_DEVICES with numbers or UUIDs renumbers what this process sees.
std::vector<GpuFacts> visible(std::vector<GpuFacts> gpus, const Environment& environment) {
    const std::string* list = find_variable(environment, "CUDA_VISIBLE_DEVICES");
    if (list == nullptr) {
        return gpus;
    }
    std::vector<GpuFacts> seen;
    for (const std::string_view word : split(*list, ',')) {
        const std::string_view name = trim(word);
        const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const GpuFacts& gpu) {
            return std::to_string(gpu.device) == name || (name.starts_with("GPU-") && gpu.uuid.starts_with(name));
        });
        if (found == gpus.end()) {
            break;  // CUDA ignores what follows an invalid entry
        }
        seen.push_back(*found);
        seen.back().device = static_cast<int>(seen.size()) - 1;
    }
    return seen;
}

// CUDA_VISIBLE_DEVICES leaves none, whatever there is: it is empty, or begins with no GPU's number or name, as -1.
bool hides_all(const Environment& environment) {
    const std::string* list = find_variable(environment, "CUDA_VISIBLE_DEVICES");
    if (list == nullptr) {
        return false;
    }
    const std::string_view first = trim(split(*list, ',').front());
    const bool number = !first.empty() && first.find_first_not_of("0123456789") == std::string_view::npos;
    return !number && !first.starts_with("GPU-") && !first.starts_with("MIG-");
}

// A file's bytes go to a GPU here: the host's memory has no way of its own to tell of.
int number_of(const std::vector<GpuFacts>& gpus, const std::string& device) {
    const DeviceName name = parse_device_name(device);
    if (name.is_host()) {
        throw Error(ErrorCode::invalid_argument, "'" + device + "' names no GPU; a check is of the way to one");
    }
    return device_among(gpus, name);
}

// Where GPU and drive are, and how far from one another.
void add_bus(const MachineRoot& root, const FileFacts& file, SurroundingFacts& facts) {
    const GpuFacts* gpu = gpu_numbered(facts.gpus, facts.device);
    facts.gpu = gpu != nullptr && !gpu->pci_address.empty() ? read_pci(root, gpu->pci_address) : absent_fact<PciFacts>("/sys/bus/pci/devices");
    facts.drive = absent_fact<PciFacts>("/sys/bus/pci/devices");
    for (const BlockLayer& layer : file.block.value.stack) {
        if (!layer.pci_address.empty()) {
            facts.drive = read_pci(root, layer.pci_address);
            break;
        }
    }
    if (facts.gpu.known() && facts.drive.known()) {
        facts.distance = distance_between(facts.gpu.value, facts.drive.value);
    }
}

// /dev/nvidia0 and its like: the GPUs that a process can reach, also where a container hides /proc and /sys.
Fact<bool> device_nodes(const MachineRoot& root) {
    const auto names = root.list("/dev");
    const bool any = std::any_of(names.value.begin(), names.value.end(), [](const std::string& name) {
        return name.size() > 6 && name.starts_with("nvidia") && name.find_first_not_of("0123456789", 6) == std::string::npos;
    });
    return any ? known_fact(true, "/dev") : names.known() ? absent_fact<bool>("/dev") : unknown_fact<bool>("/dev", names.why);
}

// A container may show the host's /proc/driver/nvidia and have no GPU of its own.
void drop_unreachable(const MachineRoot& root, std::vector<GpuFacts>& gpus) {
    if (root.is_live() && device_nodes(root).absent()) {
        gpus.clear();
    }
}

std::vector<GpuFacts> reachable_gpus(const MachineRoot& root, const SavedFacts& saved) {
    std::vector<GpuFacts> gpus = saved.gpus.empty() ? read_gpus(root) : saved.gpus;
    drop_unreachable(root, gpus);
    return gpus;
}

GpuFacts gpu_among(const std::vector<GpuFacts>& gpus, int device, const MachineRoot& root, const MachineFacts& machine) {
    constexpr const char* kPlaces = "/proc/driver/nvidia/gpus, /sys/bus/pci/devices";
    const Fact<std::string>& driver = machine.nvidia_driver;
    if (const GpuFacts* gpu = gpu_numbered(gpus, device)) {
        GpuFacts found = *gpu;
        // A version that is not understood is that of a driver all the same.
        found.driver = driver.absent() && !machine.wsl ? absent_fact<bool>(driver.source) : known_fact(true, driver.source);
        return found;
    }
    GpuFacts none;
    none.device = device;
    none.present = gpus.empty() && device_nodes(root).known()
                       ? unknown_fact<bool>(kPlaces, "they show none, and /dev holds the nodes of one")
                       : absent_fact<bool>(kPlaces);
    none.driver = known_fact(true, "not asked");
    none.gpu_direct_rdma = unknown_fact<bool>("the driver", "no GPU");
    return none;
}

}  // namespace

SurroundingFacts gather_surroundings(const MachineRoot& root, const Environment& environment, const SavedFacts& saved,
                                     const FileFacts& file, const MachineFacts& machine, const std::string& device) {
    SurroundingFacts facts;
    facts.gpus = reachable_gpus(root, saved);
    facts.order_uncertain = is_order_uncertain(facts.gpus, environment);
    facts.gpus = visible(std::move(facts.gpus), environment);
    facts.device = number_of(facts.gpus, device);
    add_bus(root, file, facts);
    facts.iommu = read_iommu(root);
    facts.virtual_machine = find_virtual_machine(root);
    facts.memlock_bytes = soft_limit(root, "Max locked memory");
    facts.open_files = soft_limit(root, "Max open files");
    facts.shared_memory_bytes = shared_memory_bytes(root);
    // A long text, and of interest only beside nvidia-fs.
    facts.nvme_symbol = machine.nvidia_fs.loaded.known() ? read_nvme_symbol(root) : absent_fact<std::string>("/proc/kallsyms");
    for (const auto& [name, value] : environment) {
        if (name.starts_with("CUFILE_")) {
            facts.cufile_variables.emplace_back(name, value);
        }
    }
    apply(saved, facts);
    return facts;
}

GpuFacts gpu_of(const SurroundingFacts& surroundings, const MachineRoot& root, const MachineFacts& machine) {
    return gpu_among(surroundings.gpus, surroundings.device, root, machine);
}

std::vector<GpuFacts> gpus_by_files(const MachineRoot& root, const Environment& environment) {
    return visible(reachable_gpus(root, read_saved_facts(root)), environment);
}

GpuFacts gpu_by_files(int device, const MachineRoot& root, const Environment& environment, const MachineFacts& machine) {
    GpuFacts gpu = gpu_among(gpus_by_files(root, environment), device, root, machine);
    if (hides_all(environment)) {
        gpu.present = absent_fact<bool>("CUDA_VISIBLE_DEVICES");  // device nodes that can be reached or not
    }
    return gpu;
}

}  // namespace waybill
