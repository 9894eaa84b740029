// Archives of a machine's files: opened as a folder for --root, written by --save.
//
// By libarchive: tar, compressed or not.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/leftover.hpp"

namespace waybill {

// A folder that stands for a machine: `path` itself, or what was unpacked from the archive at `path`, which is removed at
// the end. Throws Error file_not_found, bad_setting.
class SavedMachine {
public:
    explicit SavedMachine(const std::string& path);
    ~SavedMachine() = default;
    SavedMachine(const SavedMachine&) = delete;
    SavedMachine& operator=(const SavedMachine&) = delete;

    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // the `path` that it was given

private:
    std::string name_;
    std::string folder_;
    std::optional<Leftover> unpacked_;
};

struct ArchiveEntry {
    enum class Kind { file, folder, link };
    Kind kind = Kind::file;
    std::string text;  // the file's bytes, or where the link leads
};

// Writes a compressed tar with these entries (paths without a leading slash), whole or not at all.
void write_archive(const std::string& path, const std::map<std::string, ArchiveEntry>& entries);

// The same as a new or empty folder; needs no libarchive.
void write_folder(const std::string& path, const std::map<std::string, ArchiveEntry>& entries);

}  // namespace waybill
