#include "base/pci_address.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace waybill {
namespace {

bool all_hex(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) { return std::isxdigit(letter) != 0; });
}

}  // namespace

bool is_pci_address(std::string_view text) noexcept {
    return text.size() == 12 && text[4] == ':' && text[7] == ':' && text[10] == '.' && all_hex(text.substr(0, 4)) &&
           all_hex(text.substr(5, 2)) && all_hex(text.substr(8, 2)) && all_hex(text.substr(11));
}

std::string plain_pci_address(std::string_view text) {
    std::string address = lower(trim(text));
    const auto parts = split(address, ':');
    if (parts.size() == 2) {
        address = "0000:" + address;
    } else if (parts.size() == 3 && parts[0].size() > 4) {
        address = address.substr(parts[0].size() - 4);
    }
    return is_pci_address(address) ? address : std::string();
}

}  // namespace waybill
