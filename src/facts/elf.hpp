// ELF files of 64 bits, which may be cut short or broken anywhere. Pure.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

// Structures and texts out of a file's bytes, which must outlive this.
class Elf {
public:
    explicit Elf(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    [[nodiscard]] bool take(std::uint64_t at, T& into) const {
        if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) {
            return false;
        }
        std::memcpy(&into, bytes_.data() + at, sizeof(T));
        return true;
    }
    // The text that begins at `at` and ends with a NUL; empty where there is none.
    [[nodiscard]] std::string text(std::uint64_t at) const;

private:
    std::string_view bytes_;
};

// What the loader maps and reads, as the header tells; empty for what is no ELF file of 64 bits.
[[nodiscard]] std::vector<Elf64_Phdr> segments_of(const Elf& elf);

}  // namespace waybill
