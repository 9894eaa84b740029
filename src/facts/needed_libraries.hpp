// Which libraries an ELF file needs that are not where the loader looks. Nothing is loaded for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// What the header of an ELF file of 64 bits asks the loader for: names (DT_NEEDED) and folders of its own ($ORIGIN is left as
// it stands). Empty for anything else, and for what a broken file does not tell.
struct NeededLibraries {
    std::vector<std::string> names;
    std::vector<std::string> folders;
};
// A part of the file, shorter where the file ends: libcufile has some megabytes, of which a few kilobytes tell this.
using ReadPart = std::function<std::string(std::uint64_t offset, std::uint64_t size_bytes)>;
[[nodiscard]] NeededLibraries needed_libraries(const ReadPart& read);
[[nodiscard]] NeededLibraries needed_libraries(std::string_view elf);

// The names that `library` needs and that are neither beside it (where it says so), nor in `folders`, nor loaded in this process
// (for which the loader looks no further); absent when all are there. Unknown where not even libc is found there: then the loader looks elsewhere.
[[nodiscard]] Fact<std::vector<std::string>> missing_libraries(const MachineRoot& root, const std::string& library,
                                                               const std::vector<std::string>& folders);

}  // namespace waybill
