#include "facts/cufile_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "facts/elf.hpp"
#include "settings/cufile_keys.hpp"

namespace waybill {
namespace {

// Where distributions and CUDA's packages put it.
constexpr std::string_view kFolders[] = {
    "/lib/x86_64-linux-gnu",   "/usr/lib/x86_64-linux-gnu",   "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/usr/local/cuda/lib64",   "/usr/local/cuda/targets/x86_64-linux/lib",
    "/usr/local/cuda/targets/sbsa-linux/lib",
    "/lib64",                  "/usr/lib64",                  "/usr/local/lib",         "/lib",
    "/usr/lib",
};

// Folders that the loader knows from /etc/ld.so.conf.d (the cache itself is binary, its sources are text), and the usual ones.
std::vector<std::string> configured_folders(const MachineRoot& root) {
    std::vector<std::string> folders;
    for (const std::string& name : root.list("/etc/ld.so.conf.d").value) {
        const Fact<std::string> text = root.read("/etc/ld.so.conf.d/" + name);
        for (const std::string_view line : split(text.value, '\n')) {
            const std::string_view folder = trim(line);
            if (folder.starts_with('/')) {
                folders.emplace_back(folder);
            }
        }
    }
    folders.insert(folders.end(), std::begin(kFolders), std::end(kFolders));
    return folders;
}

// The file that the loader has taken by this name; empty where there is none.
std::string loaded_file(const std::string& name) {
    void* const loaded = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (loaded == nullptr) {
        return {};
    }
    link_map* map = nullptr;
    std::string file = ::dlinfo(loaded, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : name;
    ::dlclose(loaded);
    return file;
}

std::string behind_links(const MachineRoot& root, std::string path) {
    constexpr int kMostLinks = 8;
    for (int k = 0; k < kMostLinks; ++k) {
        const Fact<std::string> link = root.link(path);
        if (!link.known()) {
            break;
        }
        path = link.value.starts_with('/') ? link.value : path.substr(0, path.rfind('/') + 1) + link.value;
    }
    return path;
}

// libcufile.so.1.15.1 -> 1150
std::optional<int> version_in_name(const std::string& path) {
    constexpr std::string_view kMark = ".so.";
    const auto at = path.rfind(kMark);
    return at == std::string::npos ? std::nullopt : parse_cufile_version(std::string_view(path).substr(at + kMark.size()));
}

// A text of its own, between NULs: four numbers, the first of which is 1 so far ("1.17.1.22" -> 1170).
std::optional<int> version_among(std::string_view bytes) {
    constexpr std::string_view kStart("\0001.", 3);
    constexpr std::size_t kLongest = 32;
    for (auto at = bytes.find(kStart); at != std::string_view::npos; at = bytes.find(kStart, at + 1)) {
        const auto end = bytes.find('\0', at + 1);
        const std::string_view text = end == std::string_view::npos ? std::string_view() : bytes.substr(at + 1, end - at - 1);
        const auto numbers = split(text.substr(0, kLongest), '.');
        int minor = 0;
        if (text.size() < kLongest && numbers.size() == 4 && text.find_first_not_of("0123456789.") == std::string_view::npos &&
            std::from_chars(numbers[1].data(), numbers[1].data() + numbers[1].size(), minor).ec == std::errc()) {
            return 1000 + 10 * minor;
        }
    }
    return std::nullopt;
}

// In windows, each of which holds the longest text that begins in the one before.
std::optional<int> version_in_segment(const MachineRoot& root, const std::string& library, const Elf64_Phdr& segment) {
    constexpr std::uint64_t kWindowBytes = std::uint64_t{128} << 10;
    constexpr std::uint64_t kOverlapBytes = 64;
    constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;
    const std::uint64_t size_bytes = std::min<std::uint64_t>(segment.p_filesz, kMostBytes);
    for (std::uint64_t at = 0; at < size_bytes; at += kWindowBytes - kOverlapBytes) {
        const std::uint64_t window_bytes = std::min(kWindowBytes, size_bytes - at);
        const Fact<std::string> window = root.read(library, window_bytes, segment.p_offset + at);
        if (const auto version = version_among(window.value)) {
            return version;
        }
        if (window.value.size() < window_bytes) {
            break;
        }
    }
    return std::nullopt;
}

// Texts stand in what is mapped to be read alone, in the last such segment: 128 KiB of the 4 MB of 1.17 and 1.20 were enough.
Fact<int> version_within(const MachineRoot& root, const std::string& library) {
    constexpr std::size_t kHeaderBytes = 4096;
    const Fact<std::string> header = root.read(library, kHeaderBytes);
    if (!header.known()) {
        return unknown_fact<int>(library, header.why);
    }
    std::vector<Elf64_Phdr> segments = segments_of(Elf(header.value));
    std::reverse(segments.begin(), segments.end());
    for (const Elf64_Phdr& segment : segments) {
        const bool texts = segment.p_type == PT_LOAD && segment.p_flags == PF_R;
        if (const auto version = texts ? version_in_segment(root, library, segment) : std::nullopt) {
            return known_fact(*version, library);
        }
    }
    return unknown_fact<int>(library, "neither the file's name nor its texts hold a version; the library tells when it is loaded");
}

}  // namespace

std::vector<std::string> loader_folders(const MachineRoot& root, const Environment& environment) {
    std::vector<std::string> folders;
    if (const std::string* path = find_variable(environment, "LD_LIBRARY_PATH")) {
        for (const std::string_view folder : split(*path, ':')) {
            folders.emplace_back(folder.empty() ? "." : folder);
        }
    }
    const std::vector<std::string> configured = configured_folders(root);
    folders.insert(folders.end(), configured.begin(), configured.end());
    return folders;
}

Fact<std::string> find_cufile_library(const MachineRoot& root, const Settings& settings, const Environment& environment) {
    const std::string& name = settings.cufile_library.value;
    if (name.find('/') != std::string::npos) {
        return root.exists(name).known() ? known_fact(name, name) : absent_fact<std::string>(name);
    }
    // LD_LIBRARY_PATH belongs to this process, so its folders are this machine's whatever the root.
    const MachineRoot live;
    if (const std::string* folders = find_variable(environment, "LD_LIBRARY_PATH")) {
        for (const std::string_view folder : split(*folders, ':')) {
            const std::string path = std::string(folder.empty() ? "." : folder) + "/" + name;
            if (live.exists(path).known()) {
                return known_fact(path, "LD_LIBRARY_PATH");
            }
        }
    }
    // Loaded already (by another library's search path): the loader would take that one.
    if (root.is_live()) {
        if (std::string file = loaded_file(name); !file.empty()) {
            return known_fact(std::move(file), "loaded in this process");
        }
    }
    for (const std::string& folder : configured_folders(root)) {
        const std::string path = folder + "/" + name;
        if (root.exists(path).known()) {
            return known_fact(path, folder);
        }
    }
    return absent_fact<std::string>("LD_LIBRARY_PATH, /etc/ld.so.conf.d and the usual folders");
}

Fact<int> cufile_version_of(const MachineRoot& root, const std::string& library) {
    const std::string path = behind_links(root, library);
    const std::optional<int> named = version_in_name(path);
    return named ? known_fact(*named, path) : version_within(root, library);
}

}  // namespace waybill
