#include "facts/save.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "base/text.hpp"

namespace waybill {
namespace {

namespace fs = std::filesystem;
using Kind = ArchiveEntry::Kind;

// Of files that are long or private, only the lines that facts are made of.
std::string relevant(const std::string& path, const std::string& text) {
    std::vector<std::string_view> wanted;
    if (path.find("/udev/data/") != std::string::npos) {
        wanted = {"I:", "E:ID_FS_USAGE=", "E:ID_FS_TYPE="};
    } else if (path == "/proc/kallsyms") {
        wanted = {"_register_nvfs_dma_ops", " pci_p2pdma_"};
    } else if (path == "/proc/cpuinfo") {
        wanted = {"flags", "model name"};
    } else if (path.starts_with("/boot/config-")) {
        wanted = {"CONFIG_PCI_P2PDMA"};
    } else {
        return text;
    }
    std::string kept;
    std::set<std::string> seen;  // each processor says the same
    for (const std::string_view line : split(text, '\n')) {
        for (const std::string_view word : wanted) {
            if (line.find(word) != std::string_view::npos && seen.emplace(line).second) {
                kept += std::string(line) + '\n';
                break;
            }
        }
    }
    return kept;
}

class Walk {
public:
    Walk(const MachineRoot& root, const Secrets& secrets) : root_(root), secrets_(secrets) {}

    void add(const std::string& path) {
        const std::string place = true_place(path);
        if (place.empty()) {
            return;
        }
        struct stat state {};
        if (::lstat(place.c_str(), &state) != 0) {
            return;
        }
        ArchiveEntry& entry = entries_[place.substr(1)];
        if (S_ISDIR(state.st_mode)) {
            entry.kind = Kind::folder;
            add_names(place);
        } else {
            entry.kind = Kind::file;
            entry.text = is_text(place, state) ? scrub(relevant(place, root_.read(place, kMostBytes).value), secrets_) : std::string();
        }
    }

    [[nodiscard]] std::map<std::string, ArchiveEntry> take() { return std::move(entries_); }

private:
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    // Where the path leads, with the links on the way put down. /proc/self stays what it is for the one who asks.
    std::string true_place(const std::string& path) {
        fs::path done = "/";
        fs::path left = fs::path(path).lexically_normal().relative_path();
        for (int links = 0; !left.empty() && links < 40;) {
            const fs::path part = *left.begin();
            fs::path rest;
            for (auto other = std::next(left.begin()); other != left.end(); ++other) {
                rest /= *other;
            }
            const fs::path here = done / part;
            std::error_code problem;
            const fs::path to = here == "/proc/self" ? fs::path() : fs::read_symlink(here, problem);
            if (here == "/proc/self" || problem) {
                done = here;
                left = rest;
                continue;
            }
            entries_[here.string().substr(1)] = {Kind::link, to.string()};
            const fs::path target = (to.is_absolute() ? to : done / to).lexically_normal();
            left = target.relative_path() / rest;
            done = "/";
            ++links;
        }
        return done.string();
    }

    // Names that were listed stand for themselves.
    void add_names(const std::string& folder) {
        for (const std::string& name : root_.list(folder).value) {
            const std::string place = (folder == "/" ? "" : folder) + "/" + name;
            struct stat state {};
            if (::lstat(place.c_str(), &state) != 0) {
                continue;
            }
            if (S_ISLNK(state.st_mode)) {
                std::error_code ignored;
                entries_.try_emplace(place.substr(1), ArchiveEntry{Kind::link, fs::read_symlink(place, ignored).string()});
            } else {
                entries_.try_emplace(place.substr(1), ArchiveEntry{S_ISDIR(state.st_mode) ? Kind::folder : Kind::file, {}});
            }
        }
    }

    // A library or a program is there, and that is all that is wanted of it.
    static bool is_text(const std::string& place, const struct stat& state) {
        const bool kernel = place.starts_with("/proc/") || place.starts_with("/sys/") || place.starts_with("/run/");
        return S_ISREG(state.st_mode) && (kernel || place.starts_with("/etc/") || place.starts_with("/boot/config-") || place.ends_with(".json"));
    }

    const MachineRoot& root_;
    const Secrets& secrets_;
    std::map<std::string, ArchiveEntry> entries_;
};

}  // namespace

std::map<std::string, ArchiveEntry> saved_entries(const std::set<std::string>& paths, const Secrets& secrets) {
    const MachineRoot root;
    Walk walk(root, secrets);
    for (const std::string& path : paths) {
        walk.add(path);
    }
    // Names and targets too: what refers to one another must still do so.
    std::map<std::string, ArchiveEntry> entries;
    for (auto& [name, entry] : walk.take()) {
        if (entry.kind == Kind::link) {
            entry.text = scrub(entry.text, secrets);
        }
        ArchiveEntry& place = entries[scrub("/" + name, secrets).substr(1)];
        if (place.text.empty() || entry.kind == Kind::folder) {
            place = std::move(entry);  // two names may have become one
        }
    }
    return entries;
}

}  // namespace waybill
