#include "facts/elf.hpp"

namespace waybill {

std::string Elf::text(std::uint64_t at) const {
    if (at >= bytes_.size()) {
        return {};
    }
    const std::string_view rest = bytes_.substr(at);
    const auto end = rest.find('\0');
    return std::string(end == std::string_view::npos ? std::string_view() : rest.substr(0, end));
}

std::vector<Elf64_Phdr> segments_of(const Elf& elf) {
    Elf64_Ehdr head{};
    std::vector<Elf64_Phdr> segments;
    if (!elf.take(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) {
        return segments;
    }
    Elf64_Phdr segment{};
    for (std::uint64_t k = 0; k < head.e_phnum && elf.take(head.e_phoff + k * sizeof segment, segment); ++k) {
        segments.push_back(segment);
    }
    return segments;
}

}  // namespace waybill
