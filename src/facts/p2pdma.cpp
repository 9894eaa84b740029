#include "facts/p2pdma.hpp"

#include "base/text.hpp"

namespace waybill {
namespace {

Fact<bool> read_kernel(const MachineRoot& root, const std::string& release) {
    const std::string path = "/boot/config-" + release;
    const Fact<std::string> config = root.read(path);
    if (config.known()) {
        return config.value.find("CONFIG_PCI_P2PDMA=y") != std::string::npos ? known_fact(true, path) : absent_fact<bool>(path);
    }
    // Without that file the symbols tell, which only a saved machine keeps few enough of to search.
    constexpr const char* kSymbols = "/proc/kallsyms";
    constexpr std::size_t kSymbolsBytes = std::size_t{64} << 20;
    const Fact<std::string> symbols = root.is_live() ? unknown_fact<std::string>(kSymbols, "not searched on a running machine")
                                                     : root.read(kSymbols, kSymbolsBytes);
    if (symbols.known()) {
        return symbols.value.find(" pci_p2pdma_") != std::string::npos ? known_fact(true, kSymbols) : absent_fact<bool>(kSymbols);
    }
    return unknown_fact<bool>(path, "the kernel's configuration cannot be read");
}

// Registry keys that make the driver map all of the GPU's memory in its BAR (pg-strom, issue 913).
Fact<bool> read_driver(const MachineRoot& root, std::string_view key) {
    constexpr const char* kPath = "/proc/driver/nvidia/params";
    const Fact<std::string> parameters = root.read(kPath);
    if (!parameters.known()) {
        return {parameters.state, false, kPath, parameters.why};
    }
    return parameters.value.find(key) != std::string::npos ? known_fact(true, kPath) : absent_fact<bool>(kPath);
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04"
Fact<bool> read_open(const MachineRoot& root) {
    constexpr const char* kPath = "/proc/driver/nvidia/version";
    const Fact<std::string> text = root.read(kPath);
    if (!text.known()) {
        return {text.state, false, kPath, text.why};
    }
    return text.value.find("Open Kernel Module") != std::string::npos ? known_fact(true, kPath) : absent_fact<bool>(kPath);
}

Fact<bool> read_multipath(const MachineRoot& root) {
    constexpr const char* kPath = "/sys/module/nvme_core/parameters/multipath";
    const Fact<std::string> value = root.read(kPath);
    if (!value.known()) {
        return {value.state, false, kPath, value.why};
    }
    return known_fact(trim(value.value) == "Y" || trim(value.value) == "1", kPath);
}

}  // namespace

P2pdmaFacts read_p2pdma(const MachineRoot& root, const std::string& kernel_release) {
    return {read_kernel(root, kernel_release), read_driver(root, "RMForceStaticBar1=1"), read_driver(root, "RmForceDisableIomapWC=1"),
            read_open(root), read_multipath(root)};
}

}  // namespace waybill
