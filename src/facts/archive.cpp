#include "facts/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/library.hpp"
#include "base/text.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

// No saved machine comes near these; a bomb does.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostEntries = 200'000;

// The calls of libarchive that are used; declared by its own header, bound at run time.
struct Libarchive {
    decltype(&archive_read_new) read_new = nullptr;
    decltype(&archive_read_free) read_free = nullptr;
    decltype(&archive_read_support_filter_by_code) filter = nullptr;
    decltype(&archive_read_support_format_tar) tar = nullptr;
    decltype(&archive_read_open_filename) open = nullptr;
    decltype(&archive_read_next_header) next = nullptr;
    decltype(&archive_read_data) data = nullptr;
    decltype(&archive_error_string) problem_of = nullptr;
    decltype(&archive_entry_pathname) pathname = nullptr;
    decltype(&archive_entry_filetype) filetype = nullptr;
    decltype(&archive_entry_symlink) symlink = nullptr;
    decltype(&archive_write_new) write_new = nullptr;
    decltype(&archive_write_free) write_free = nullptr;
    decltype(&archive_write_add_filter_gzip) gzip = nullptr;
    decltype(&archive_write_set_format_pax_restricted) pax = nullptr;
    decltype(&archive_write_open_filename) create = nullptr;
    decltype(&archive_write_header) header = nullptr;
    decltype(&archive_write_data) write = nullptr;
    decltype(&archive_write_close) close = nullptr;
    decltype(&archive_entry_new) entry_new = nullptr;
    decltype(&archive_entry_free) entry_free = nullptr;
    decltype(&archive_entry_set_pathname) set_pathname = nullptr;
    decltype(&archive_entry_set_filetype) set_filetype = nullptr;
    decltype(&archive_entry_set_perm) set_perm = nullptr;
    decltype(&archive_entry_set_size) set_size = nullptr;
    decltype(&archive_entry_set_symlink) set_symlink = nullptr;
    std::string problem;

    Libarchive() {
        const Library library = Library::load("libarchive.so.13");
        problem = library.problem();
        const auto bind = [&](auto& slot, const char* name) {
            slot = reinterpret_cast<std::decay_t<decltype(slot)>>(library.symbol(name));
            if (slot == nullptr && problem.empty()) {
                problem = std::string("libarchive has no ") + name;
            }
        };
        bind(read_new, "archive_read_new");
        bind(read_free, "archive_read_free");
        bind(filter, "archive_read_support_filter_by_code");
        bind(tar, "archive_read_support_format_tar");
        bind(open, "archive_read_open_filename");
        bind(next, "archive_read_next_header");
        bind(data, "archive_read_data");
        bind(problem_of, "archive_error_string");
        bind(pathname, "archive_entry_pathname");
        bind(filetype, "archive_entry_filetype");
        bind(symlink, "archive_entry_symlink");
        bind(write_new, "archive_write_new");
        bind(write_free, "archive_write_free");
        bind(gzip, "archive_write_add_filter_gzip");
        bind(pax, "archive_write_set_format_pax_restricted");
        bind(create, "archive_write_open_filename");
        bind(header, "archive_write_header");
        bind(write, "archive_write_data");
        bind(close, "archive_write_close");
        bind(entry_new, "archive_entry_new");
        bind(entry_free, "archive_entry_free");
        bind(set_pathname, "archive_entry_set_pathname");
        bind(set_filetype, "archive_entry_set_filetype");
        bind(set_perm, "archive_entry_set_perm");
        bind(set_size, "archive_entry_set_size");
        bind(set_symlink, "archive_entry_set_symlink");
    }
};

const Libarchive& libarchive(const std::string& path) {
    static const auto& library = *new Libarchive();
    if (!library.problem.empty()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("'{}': archives need libarchive, and {}; install libarchive13, or take a folder (--save with a / at its end)", path,
                                library.problem));
    }
    return library;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::bad_setting, fmt::format("'{}' is no archive of a machine: {}", path, why));
}

// A folder below `base`, made on the way; no symbolic link is followed, so nothing leaves `base`.
Fd folder_below(int base, const std::filesystem::path& path, const std::string& archive) {
    Fd at(::fcntl(base, F_DUPFD_CLOEXEC, 0));
    for (const auto& part : path) {
        if (::mkdirat(at.get(), part.c_str(), 0700) != 0 && errno != EEXIST) {
            refuse(archive, fmt::format("the folder {} cannot be made ({})", path.string(), errno_name(errno)));
        }
        Fd next(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next) {
            refuse(archive, fmt::format("{} is not a folder there ({})", path.string(), errno_name(errno)));
        }
        at = std::move(next);
    }
    return at;
}

// ./a/b -> a/b. An entry that leads out is refused.
std::filesystem::path inner_path(const char* name, const std::string& archive) {
    const std::filesystem::path path = std::filesystem::path(name == nullptr ? "" : name).relative_path().lexically_normal();
    for (const auto& part : path) {
        if (part == "..") {
            refuse(archive, fmt::format("the entry '{}' leads out of it", name));
        }
    }
    return path;
}

class Unpacking {
public:
    Unpacking(const Libarchive& api, const std::string& archive, const std::string& folder)
        : api_(api), archive_(archive), base_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          reader_(api.read_new(), api.read_free) {}

    void run() {
        // Those that the library has in itself: the rest of `all` run programs, which a hostile archive could choose.
        for (const int code : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD}) {
            api_.filter(reader_.get(), code);
        }
        api_.tar(reader_.get());
        if (api_.open(reader_.get(), archive_.c_str(), 65536) != ARCHIVE_OK) {
            refuse(archive_, problem());
        }
        archive_entry* entry = nullptr;
        int status = ARCHIVE_OK;
        std::uint64_t entries = 0;
        while ((status = api_.next(reader_.get(), &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
            if (++entries > kMostEntries) {
                refuse(archive_, fmt::format("it has more than {} entries", kMostEntries));
            }
            take(entry);
        }
        if (status != ARCHIVE_EOF) {
            refuse(archive_, problem());
        }
    }

private:
    [[nodiscard]] std::string problem() const {
        const char* text = api_.problem_of(reader_.get());
        return text == nullptr ? "not understood" : text;
    }

    void take(archive_entry* entry) {
        const std::filesystem::path path = inner_path(api_.pathname(entry), archive_);
        if (path.empty() || path == ".") {
            return;
        }
        const auto kind = api_.filetype(entry);
        if (kind == AE_IFDIR) {
            (void)folder_below(base_.get(), path.filename().empty() ? path.parent_path() : path, archive_);
            return;
        }
        const Fd folder = folder_below(base_.get(), path.parent_path(), archive_);
        if (kind == AE_IFLNK) {
            const char* to = api_.symlink(entry);
            (void)::symlinkat(to == nullptr ? "" : to, folder.get(), path.filename().c_str());
        } else if (kind == AE_IFREG) {
            take_file(folder.get(), path);
        }  // devices, pipes and the like say nothing
    }

    void take_file(int folder, const std::filesystem::path& path) {
        const Fd file(::openat(folder, path.filename().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file) {
            refuse(archive_, fmt::format("the file {} cannot be made ({})", path.string(), errno_name(errno)));
        }
        char chunk[65536];
        la_ssize_t count = 0;
        while ((count = api_.data(reader_.get(), chunk, sizeof chunk)) > 0) {
            bytes_ += static_cast<std::uint64_t>(count);
            if (bytes_ > kMostBytes) {
                refuse(archive_, fmt::format("it holds more than {}", size_text(kMostBytes)));
            }
            if (::write(file.get(), chunk, static_cast<std::size_t>(count)) != count) {
                refuse(archive_, "unpacking it failed: " + errno_name(errno));
            }
        }
        if (count < 0) {
            refuse(archive_, problem());
        }
    }

    const Libarchive& api_;
    const std::string& archive_;
    Fd base_;
    std::unique_ptr<archive, decltype(api_.read_free)> reader_;
    std::uint64_t bytes_ = 0;
};

void check_written(const Libarchive& api, archive* writer, int status, const std::string& path) {
    if (status != ARCHIVE_OK) {
        const char* text = api.problem_of(writer);
        throw Error(ErrorCode::io_error, fmt::format("cannot write '{}': {}", path, text == nullptr ? "unknown" : text));
    }
}

}  // namespace

namespace {

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

SavedMachine::SavedMachine(const std::string& path) : folder_(path) {
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
    const Libarchive& api = libarchive(path);
    int problem = 0;
    unpacked_.emplace(Leftover::Kind::folder, [&problem] {
        std::string name = (std::filesystem::temp_directory_path() / "waybill-root-XXXXXX").string();
        problem = ::mkdtemp(name.data()) == nullptr ? errno : 0;
        return problem == 0 ? name : std::string();
    });
    folder_ = unpacked_->path();
    if (folder_.empty()) {
        throw Error(ErrorCode::io_error, fmt::format("cannot make a folder for '{}'", path), native_errno(problem));
    }
    Unpacking(api, path, folder_).run();
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
