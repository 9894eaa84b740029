// A saved machine as a plain folder, where there is no libarchive.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "facts/archive.hpp"
#include "waybill/error.hpp"

namespace waybill {

void write_folder(const std::string& path, const std::map<std::string, ArchiveEntry>& entries) {
    namespace fs = std::filesystem;
    const fs::path base = path;
    std::error_code problem;
    if (fs::exists(base, problem) && !fs::is_empty(base, problem)) {
        throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is there and not empty; name a new folder", path));
    }
    try {
        fs::create_directories(base);
        for (const auto& [name, entry] : entries) {
            const fs::path place = base / name;
            fs::create_directories(place.parent_path());
            if (entry.kind == ArchiveEntry::Kind::folder) {
                fs::create_directories(place);
            } else if (entry.kind == ArchiveEntry::Kind::link) {
                fs::create_symlink(entry.text, place);
            } else if (!(std::ofstream(place, std::ios::binary) << entry.text)) {
                throw Error(ErrorCode::io_error, fmt::format("cannot write '{}'", place.string()));
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorCode::io_error, fmt::format("cannot write '{}': {}", path, error.what()));
    }
}

}  // namespace waybill
