#include "cli/place.hpp"

#include <charconv>

#include "base/text.hpp"
#include "waybill/buffer.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(ErrorCode::invalid_argument,
                "'" + text + "' is no place of memory; write gpu, gpu:0, gpu:GPU-<uuid>, gpu:<PCI address> or host");
}

std::optional<int> as_number(std::string_view text) {
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

// What follows "gpu:", or "0"; a plain number is a GPU too.
std::string gpu_name(const std::string& text) {
    if (text == "gpu") {
        return "0";
    }
    if (text.starts_with("gpu:") && text.size() > 4) {
        return text.substr(4);
    }
    return as_number(text) ? text : std::string();
}

}  // namespace

Place find_place(const std::optional<std::string>& text) {
    if (text == "host") {
        return {};
    }
    const std::string name = text ? gpu_name(*text) : "0";
    if (name.empty()) {
        refuse(*text);
    }
    const std::vector<GpuFacts> gpus = list_gpus();
    if (!text && gpus.empty()) {
        return {-1, "no GPU can be used here, so the bytes went to host memory; --to gpu:0 tells why"};
    }
    if (gpus.empty()) {
        (void)Buffer::on_gpu(0, 1);  // throws, and says why there is none
    }
    const auto number = as_number(name);
    for (const GpuFacts& gpu : gpus) {
        if (number ? gpu.device == *number : gpu.uuid == name || lower(gpu.pci_address) == lower(name)) {
            return {gpu.device, {}};
        }
    }
    throw Error(ErrorCode::no_gpu, "there is no GPU '" + name + "': this process sees " + std::to_string(gpus.size()));
}

Place place_without_driver(const std::optional<std::string>& text) {
    if (text == "host") {
        return {};
    }
    const auto number = as_number(text ? gpu_name(*text) : "0");
    if (!number) {
        refuse(*text);
    }
    return {*number, {}};
}

}  // namespace waybill
