#include "facts/cufile_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

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
        if (void* const loaded = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
            ::dlclose(loaded);
            return known_fact(name, "loaded in this process");
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
    constexpr int kMostLinks = 8;
    std::string path = library;
    for (int k = 0; k < kMostLinks; ++k) {
        const Fact<std::string> link = root.link(path);
        if (!link.known()) {
            break;
        }
        path = link.value.starts_with('/') ? link.value : path.substr(0, path.rfind('/') + 1) + link.value;
    }
    constexpr std::string_view kMark = ".so.";
    const auto at = path.rfind(kMark);
    if (at != std::string::npos) {
        const auto numbers = split(std::string_view(path).substr(at + kMark.size()), '.');
        int major = 0;
        int minor = 0;
        if (numbers.size() >= 2 && std::from_chars(numbers[0].data(), numbers[0].data() + numbers[0].size(), major).ec == std::errc() &&
            std::from_chars(numbers[1].data(), numbers[1].data() + numbers[1].size(), minor).ec == std::errc()) {
            return known_fact(1000 * major + 10 * minor, path);
        }
    }
    return unknown_fact<int>(path, "the file's name holds no version; the library tells when it is loaded");
}

Fact<int> cufile_version_within(const MachineRoot& root, const std::string& library) {
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    const Fact<std::string> bytes = root.read(library, kMostBytes);
    if (!bytes.known()) {
        return unknown_fact<int>(library, bytes.why);
    }
    // A text of its own, between NULs: four numbers, the first of which is 1 so far.
    constexpr std::string_view kStart("\0001.", 3);
    const std::string_view all = bytes.value;
    for (auto at = all.find(kStart); at != std::string_view::npos; at = all.find(kStart, at + 1)) {
        const std::string_view text = all.substr(at + 1, std::min<std::size_t>(all.find('\0', at + 1), at + 32) - at - 1);
        const auto numbers = split(text, '.');
        int minor = 0;
        if (numbers.size() == 4 && text.find_first_not_of("0123456789.") == std::string_view::npos &&
            std::from_chars(numbers[1].data(), numbers[1].data() + numbers[1].size(), minor).ec == std::errc()) {
            return known_fact(1000 + 10 * minor, library);
        }
    }
    return unknown_fact<int>(library, "the file names no version");
}

}  // namespace waybill
