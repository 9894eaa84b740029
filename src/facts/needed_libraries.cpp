#include "facts/needed_libraries.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/library.hpp"
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

std::vector<Elf64_Dyn> entries_of(const ReadPart& read, const std::vector<Elf64_Phdr>& segments) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_DYNAMIC) {
            continue;
        }
        const std::string bytes = read(segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, kMostBytes));
        const Elf part(bytes);
        Elf64_Dyn entry{};
        for (std::uint64_t at = 0; part.take(at, entry) && entry.d_tag != DT_NULL; at += sizeof entry) {
            entries.push_back(entry);
        }
    }
    return entries;
}

std::optional<std::uint64_t> value_of(const std::vector<Elf64_Dyn>& entries, Elf64_Sxword tag) {
    const auto found = std::find_if(entries.begin(), entries.end(), [tag](const Elf64_Dyn& entry) { return entry.d_tag == tag; });
    return found == entries.end() ? std::nullopt : std::optional<std::uint64_t>(found->d_un.d_val);
}

// The texts that the entries point into.
std::string texts_of(const ReadPart& read, const std::vector<Elf64_Phdr>& segments, const std::vector<Elf64_Dyn>& entries) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
    const auto place = value_of(entries, DT_STRTAB);
    const auto size_bytes = value_of(entries, DT_STRSZ);
    const std::uint64_t offset = place ? offset_of(segments, *place) : kNowhere;
    return offset == kNowhere || !size_bytes ? std::string() : read(offset, std::min(*size_bytes, kMostBytes));
}

bool is_in(const MachineRoot& root, const std::vector<std::string>& folders, const std::string& name) {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return root.exists(folder + "/" + name).known(); });
}

}  // namespace

NeededLibraries needed_libraries(const ReadPart& read) {
    constexpr std::uint64_t kHeaderBytes = 4096;
    const std::string header = read(0, kHeaderBytes);
    const std::vector<Elf64_Phdr> segments = segments_of(Elf(header));
    const std::vector<Elf64_Dyn> entries = entries_of(read, segments);
    const std::string bytes = texts_of(read, segments, entries);
    const Elf texts(bytes);
    NeededLibraries needed;
    for (const Elf64_Dyn& entry : entries) {
        const bool folder = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        std::string text = folder || entry.d_tag == DT_NEEDED ? texts.text(entry.d_un.d_val) : std::string();
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

NeededLibraries needed_libraries(std::string_view elf) {
    return needed_libraries([elf](std::uint64_t offset, std::uint64_t size_bytes) {
        return offset < elf.size() ? std::string(elf.substr(offset, size_bytes)) : std::string();
    });
}

Fact<std::vector<std::string>> missing_libraries(const MachineRoot& root, const std::string& library, const std::vector<std::string>& folders) {
    const std::string source = library + " (DT_NEEDED)";
    const NeededLibraries needed = needed_libraries(
        [&](std::uint64_t offset, std::uint64_t size_bytes) { return root.read(library, size_bytes, offset).value; });
    if (needed.names.empty() || !is_in(root, folders, "libc.so.6")) {
        return unknown_fact<std::vector<std::string>>(source, needed.names.empty() ? "it names none" : "the loader looks elsewhere");
    }
    std::vector<std::string> all = folders;
    for (const std::string& folder : needed.folders) {
        all.push_back(folder.starts_with("$ORIGIN") ? library.substr(0, library.rfind('/')) + folder.substr(7) : folder);
    }
    std::vector<std::string> missing;
    std::copy_if(needed.names.begin(), needed.names.end(), std::back_inserter(missing),
                 [&](const std::string& name) { return !is_in(root, all, name) && !(root.is_live() && Library::if_loaded(name)); });
    return missing.empty() ? absent_fact<std::vector<std::string>>(source) : known_fact(std::move(missing), source);
}

}  // namespace waybill
