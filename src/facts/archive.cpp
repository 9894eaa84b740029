#include "facts/archive.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "facts/libarchive.hpp"
#include "facts/unpack.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

void check_written(const Libarchive& api, archive* writer, int status, const std::string& path) {
    if (status != ARCHIVE_OK) {
        const char* text = api.problem_of(writer);
        throw Error(ErrorCode::io_error, fmt::format("cannot write '{}': {}", path, text == nullptr ? "unknown" : text));
    }
}

// Where archives are unpacked.
std::string temporary_folder() {
    const char* const named = std::getenv("TMPDIR");
    const std::string folder = named == nullptr || *named == '\0' ? "/tmp" : named;
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw Error(ErrorCode::bad_setting, fmt::format("the variable TMPDIR has the value '{}', which is no folder; give one with room "
                                                        "for an archive's files, or none for /tmp", folder));
    }
    return folder;
}

// Some folder that machines have, or the facts that no file tells; an archive of nothing would stand for a machine without anything.
void refuse_no_machine(const std::string& path, const std::string& folder) {
    constexpr const char* kParts[] = {"proc", "sys", "dev", "etc", "run", "boot", "usr", "var", "opt", "home", "lib", "waybill-facts.json"};
    const bool any = std::any_of(std::begin(kParts), std::end(kParts), [&](const char* part) {
        std::error_code ignored;
        return std::filesystem::exists(std::filesystem::symlink_status(std::filesystem::path(folder) / part, ignored));
    });
    if (!any) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("'{}' holds no saved machine: neither a folder such as proc or sys nor waybill-facts.json is at its top; make one with "
                                "`waybill check FILE --save`", path));
    }
}

}  // namespace

SavedMachine::SavedMachine(const std::string& path) : name_(path), folder_(path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0) {
        throw Error(ErrorCode::file_not_found, fmt::format("no such folder or archive: '{}'; check the path", path), native_errno(errno));
    }
    if (S_ISDIR(state.st_mode)) {
        refuse_no_machine(path, path);
        return;
    }
    if (!S_ISREG(state.st_mode)) {
        throw Error(ErrorCode::not_regular_file, fmt::format("'{}' is {}, neither a folder nor a file; name a saved machine", path, kind_of_file(state.st_mode)));
    }
    int problem = 0;
    const std::string parent = temporary_folder();
    unpacked_.emplace(Leftover::Kind::folder, [&] {
        std::string name = parent + "/waybill-root-XXXXXX";
        problem = ::mkdtemp(name.data()) == nullptr ? errno : 0;
        return problem == 0 ? name : std::string();
    });
    folder_ = unpacked_->path();
    if (folder_.empty()) {
        throw_if_out_of_descriptors(problem, parent);
        throw Error(ErrorCode::io_error, fmt::format("cannot make a folder in '{}' to unpack '{}'; set TMPDIR to one that can be written",
                                                     parent, path), native_errno(problem));
    }
    unpack(path, folder_);
    refuse_no_machine(path, folder_);
}

void write_archive(const std::string& path, const std::map<std::string, ArchiveEntry>& entries) {
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
        throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is there; name a new file, or remove it", path));
    }
    const Libarchive& api = libarchive(path);
    const std::string partial = path + ".part";
    Leftover leftover(Leftover::Kind::file, [&partial] { return partial; });
    const std::unique_ptr<archive, decltype(api.write_free)> writer(api.write_new(), api.write_free);
    api.gzip(writer.get());
    api.pax(writer.get());
    check_written(api, writer.get(), api.create(writer.get(), partial.c_str()), path);
    for (const auto& [name, entry] : entries) {
        const std::unique_ptr<archive_entry, decltype(api.entry_free)> header(api.entry_new(), api.entry_free);
        api.set_pathname(header.get(), name.c_str());
        const bool folder = entry.kind == ArchiveEntry::Kind::folder;
        api.set_filetype(header.get(), folder ? AE_IFDIR : entry.kind == ArchiveEntry::Kind::link ? AE_IFLNK : AE_IFREG);
        api.set_perm(header.get(), folder ? 0755 : 0644);
        if (entry.kind == ArchiveEntry::Kind::link) {
            api.set_symlink(header.get(), entry.text.c_str());
        } else {
            api.set_size(header.get(), static_cast<la_int64_t>(folder ? 0 : entry.text.size()));
        }
        check_written(api, writer.get(), api.header(writer.get(), header.get()), path);
        if (entry.kind == ArchiveEntry::Kind::file &&
            api.write(writer.get(), entry.text.data(), entry.text.size()) != static_cast<la_ssize_t>(entry.text.size())) {
            check_written(api, writer.get(), ARCHIVE_FATAL, path);
        }
    }
    check_written(api, writer.get(), api.close(writer.get()), path);
    if (::rename(partial.c_str(), path.c_str()) != 0) {
        throw Error(ErrorCode::io_error, "cannot rename '" + partial + "' to '" + path + "'", native_errno(errno));
    }
    leftover.keep();
}

}  // namespace waybill
