#include "facts/needed_libraries.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "facts/elf.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

std::uint64_t offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
            return segment.p_offset + (address - segment.p_vaddr);
        }
    }
    return kNowhere;
}

std::vector<Elf64_Dyn> entries_of(const Elf& elf, const std::vector<Elf64_Phdr>& segments) {
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr& segment : segments) {
        Elf64_Dyn entry{};
        for (std::uint64_t at = 0; segment.p_type == PT_DYNAMIC && at < segment.p_filesz && elf.take(segment.p_offset + at, entry) &&
                                   entry.d_tag != DT_NULL;
             at += sizeof entry) {
            entries.push_back(entry);
        }
    }
    return entries;
}

bool is_in(const MachineRoot& root, const std::vector<std::string>& folders, const std::string& name) {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return root.exists(folder + "/" + name).known(); });
}

}  // namespace

NeededLibraries needed_libraries(std::string_view bytes) {
    const Elf elf(bytes);
    const std::vector<Elf64_Phdr> segments = segments_of(elf);
    const std::vector<Elf64_Dyn> entries = entries_of(elf, segments);
    const auto strings = std::find_if(entries.begin(), entries.end(), [](const Elf64_Dyn& entry) { return entry.d_tag == DT_STRTAB; });
    NeededLibraries needed;
    if (strings == entries.end()) {
        return needed;
    }
    const std::uint64_t base = offset_of(segments, strings->d_un.d_ptr);
    if (base == kNowhere) {
        return needed;
    }
    for (const Elf64_Dyn& entry : entries) {
        const bool folder = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        std::string text = folder || entry.d_tag == DT_NEEDED ? elf.text(base + entry.d_un.d_val) : std::string();
        if (folder) {
            for (const std::string_view part : split(text, ':')) {
                needed.folders.emplace_back(part);
            }
        } else if (!text.empty()) {
            needed.names.push_back(std::move(text));
        }
    }
    return needed;
}

Fact<std::vector<std::string>> missing_libraries(const MachineRoot& root, const std::string& library, const std::vector<std::string>& folders) {
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // libcufile has 3 MB
    const std::string source = library + " (DT_NEEDED)";
    const Fact<std::string> bytes = root.read(library, kMostBytes);
    const NeededLibraries needed = needed_libraries(bytes.value);
    if (needed.names.empty() || !is_in(root, folders, "libc.so.6")) {
        return unknown_fact<std::vector<std::string>>(source, needed.names.empty() ? "it names none" : "the loader looks elsewhere");
    }
    std::vector<std::string> all = folders;
    for (const std::string& folder : needed.folders) {
        all.push_back(folder.starts_with("$ORIGIN") ? library.substr(0, library.rfind('/')) + folder.substr(7) : folder);
    }
    std::vector<std::string> missing;
    std::copy_if(needed.names.begin(), needed.names.end(), std::back_inserter(missing),
                 [&](const std::string& name) { return !is_in(root, all, name); });
    return missing.empty() ? absent_fact<std::vector<std::string>>(source) : known_fact(std::move(missing), source);
}

}  // namespace waybill
