#include "base/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/pci_address.hpp"
#include "base/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

// Numbers that no machine has are all the same: there is no such GPU.
constexpr int kMostNumber = 1 << 30;

std::optional<int> as_number(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() ? std::min(number, kMostNumber) : kMostNumber;
}

std::string plain_uuid(std::string_view text) {
    const std::string letters = lower(text);
    for (const std::string_view kind : {"GPU-", "MIG-"}) {
        if (letters.size() > kind.size() && letters.starts_with(lower(kind))) {
            return std::string(kind) + letters.substr(kind.size());
        }
    }
    return {};
}

std::string list_of(const std::vector<GpuFacts>& gpus) {
    std::vector<std::string> names;
    for (const GpuFacts& gpu : gpus) {
        std::string name = std::to_string(gpu.device);
        name += gpu.uuid.empty() ? "" : " " + gpu.uuid;
        name += gpu.pci_address.empty() ? "" : " at " + gpu.pci_address;
        names.push_back(std::move(name));
    }
    return names.empty() ? "none is seen" : "there are " + join(names, ", ");
}

}  // namespace

DeviceName parse_device_name(std::string_view text) {
    DeviceName name;
    name.text = text;
    if (text == "host" || text == "cpu" || text == "cpu:0") {
        return name;
    }
    if (text == "gpu" || text == "cuda") {
        name.number = 0;
        return name;
    }
    std::string_view rest = text;
    for (const std::string_view kind : {"gpu:", "cuda:"}) {
        if (text.starts_with(kind)) {
            rest.remove_prefix(kind.size());
            break;
        }
    }
    if (const std::optional<int> number = as_number(rest)) {
        name.number = *number;
        return name;
    }
    name.uuid = plain_uuid(rest);
    name.pci_address = plain_pci_address(rest);
    if (name.is_host()) {
        throw Error(ErrorCode::invalid_argument,
                    "the device '" + name.text + "' names no GPU and no other place of memory; give CUDA's number (1 or gpu:1), a UUID (GPU-...), "
                    "a PCI address (0000:01:00.0) or host");
    }
    return name;
}

int device_among(const std::vector<GpuFacts>& gpus, const DeviceName& name) {
    if (name.number >= 0 || name.is_host()) {
        return name.number;
    }
    std::vector<int> found;
    for (const GpuFacts& gpu : gpus) {
        const bool is_it = name.uuid.empty() ? plain_pci_address(gpu.pci_address) == name.pci_address
                                             : plain_uuid(gpu.uuid).starts_with(name.uuid);
        if (is_it) {
            found.push_back(gpu.device);
        }
    }
    if (found.empty()) {
        throw Error(ErrorCode::no_gpu, "there is no GPU '" + name.text + "': " + list_of(gpus));
    }
    if (found.size() > 1) {
        throw Error(ErrorCode::invalid_argument, "'" + name.text + "' is the beginning of more than one UUID: " + list_of(gpus));
    }
    return found.front();
}

}  // namespace waybill
