#include "facts/unpack.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "facts/libarchive.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

// A saved machine has some hundred entries. These are far above, and still unpacked within minutes.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostEntries = 100'000;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::bad_setting, fmt::format("'{}' is no archive of a machine: {}", path, why));
}

// An entry's file or folder could not be made. Where its name or kind is why, so is the archive; else this machine.
[[noreturn]] void cannot_make(const std::filesystem::path& path, int problem, const std::string& archive) {
    for (const int of_names : {EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR}) {
        if (problem == of_names) {
            refuse(archive, fmt::format("{} cannot be made in it ({})", path.string(), errno_name(problem)));
        }
    }
    throw_if_out_of_descriptors(problem, archive);
    throw Error(problem == ENOSPC || problem == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
                fmt::format("unpacking '{}' failed at {}; set TMPDIR to a folder with room for it", archive, path.string()),
                native_errno(problem));
}

// ./a/b -> a/b. An entry that leads out is refused.
std::filesystem::path inner_path(std::string_view name, const std::string& archive) {
    if (name.size() > PATH_MAX) {
        refuse(archive, fmt::format("an entry's path has {} bytes, and no path has more than {}", name.size(), PATH_MAX));
    }
    const std::filesystem::path path = std::filesystem::path(name).relative_path().lexically_normal();
    for (const auto& part : path) {
        if (part == "..") {
            refuse(archive, fmt::format("the entry '{}' leads out of it", name));
        }
    }
    return path.filename().empty() ? path.parent_path() : path;
}

// Of an entry that is a symbolic link; empty where the archive names none.
const char* link_target(const Libarchive& api, archive_entry* entry) {
    const char* const target = api.symlink(entry);
    return target == nullptr ? "" : target;
}

// What unpacking would make, entries and the folders on the way to them, held against the limits.
class Count {
public:
    explicit Count(const std::string& archive) : archive_(archive) {}

    void add(const std::filesystem::path& path, bool is_folder, std::uint64_t size_bytes) {
        add_one(path, size_bytes);
        if (is_folder) {
            folders_.insert(path.native());
        }
        for (std::filesystem::path on_the_way = path.parent_path(); !on_the_way.empty() && folders_.insert(on_the_way.native()).second;
             on_the_way = on_the_way.parent_path()) {
            add_one(on_the_way, 0);
        }
    }

private:
    void add_one(const std::filesystem::path& path, std::uint64_t size_bytes) {
        if (++entries_ > kMostEntries) {
            refuse(archive_, fmt::format("it has more than {} entries, the most that is unpacked", kMostEntries));
        }
        const std::uint64_t left = kMostBytes - bytes_;
        if (size_bytes > left || path.native().size() > left - size_bytes) {
            refuse(archive_, fmt::format("it holds more than {}, the most that is unpacked", size_text(kMostBytes)));
        }
        bytes_ += size_bytes + path.native().size();
    }

    const std::string& archive_;
    std::uint64_t entries_ = 0;
    std::uint64_t bytes_ = 0;
    std::unordered_set<std::string> folders_;
};

// One pass over an archive.
class Pass {
public:
    Pass(const Libarchive& api, const std::string& archive) : api_(api), archive_(archive), reader_(api.read_new(), api.read_free) {
        // Those that the library has in itself: the rest of `all` run programs, which a hostile archive could choose.
        for (const int code : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD}) {
            api_.filter(reader_.get(), code);
        }
        api_.tar(reader_.get());
        if (api_.open(reader_.get(), archive_.c_str(), 65536) != ARCHIVE_OK) {
            throw_if_out_of_descriptors(api_.errno_of(reader_.get()), archive_);
            refuse(archive_, problem());
        }
    }

    // Calls `use` with each entry and its path, all of which are within the limits so far.
    template <class Use>
    void for_each(Use use) {
        Count count(archive_);
        archive_entry* entry = nullptr;
        int status = ARCHIVE_OK;
        while ((status = api_.next(reader_.get(), &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
            const char* const name = api_.pathname(entry);
            const std::filesystem::path path = inner_path(name == nullptr ? "" : name, archive_);
            const auto kind = api_.filetype(entry);
            count.add(path, kind == AE_IFDIR,
                      kind == AE_IFLNK ? std::strlen(link_target(api_, entry)) : static_cast<std::uint64_t>(api_.size(entry)));
            if (!path.empty() && path != ".") {
                use(entry, path);
            }
        }
        if (status != ARCHIVE_EOF) {
            refuse(archive_, problem());
        }
    }

    // The bytes of the entry at hand, at most the size that was counted.
    void copy_to(const Fd& file, const std::filesystem::path& path) {
        char chunk[65536];
        la_ssize_t count = 0;
        while ((count = api_.data(reader_.get(), chunk, sizeof chunk)) > 0) {
            for (const char* rest = chunk; count > 0;) {
                const ssize_t written = ::write(file.get(), rest, static_cast<std::size_t>(count));
                if (written <= 0) {
                    cannot_make(path, written < 0 ? errno : EIO, archive_);
                }
                rest += written;
                count -= written;
            }
        }
        if (count < 0) {
            refuse(archive_, problem());
        }
    }

private:
    [[nodiscard]] std::string problem() const {
        const char* text = api_.problem_of(reader_.get());
        return text == nullptr ? "not understood" : text;
    }

    const Libarchive& api_;
    const std::string& archive_;
    std::unique_ptr<archive, decltype(api_.read_free)> reader_;
};

// A folder below `base`, made on the way; no symbolic link is followed, so nothing leaves `base`.
Fd folder_below(int base, const std::filesystem::path& path, const std::string& archive) {
    Fd at(::fcntl(base, F_DUPFD_CLOEXEC, 0));
    if (!at) {
        cannot_make(path, errno, archive);
    }
    for (const auto& part : path) {
        if (::mkdirat(at.get(), part.c_str(), 0700) != 0 && errno != EEXIST) {
            cannot_make(path, errno, archive);
        }
        Fd next(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next) {
            cannot_make(path, errno, archive);
        }
        at = std::move(next);
    }
    return at;
}

void make(const Libarchive& api, Pass& pass, archive_entry* entry, int base, const std::filesystem::path& path, const std::string& archive) {
    const auto kind = api.filetype(entry);
    if (kind == AE_IFDIR) {
        (void)folder_below(base, path, archive);
        return;
    }
    const Fd folder = folder_below(base, path.parent_path(), archive);
    if (kind == AE_IFLNK) {
        (void)::symlinkat(link_target(api, entry), folder.get(), path.filename().c_str());
    } else if (kind == AE_IFREG) {
        const Fd file(::openat(folder.get(), path.filename().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file) {
            cannot_make(path, errno, archive);
        }
        pass.copy_to(file, path);
    }  // devices, pipes and the like say nothing
}

}  // namespace

void unpack(const std::string& archive, const std::string& folder) {
    const Libarchive& api = libarchive(archive);
    Pass(api, archive).for_each([](archive_entry* /*entry*/, const std::filesystem::path& /*path*/) {});
    const Fd base(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!base) {
        cannot_make(folder, errno, archive);
    }
    Pass pass(api, archive);
    pass.for_each([&](archive_entry* entry, const std::filesystem::path& path) { make(api, pass, entry, base.get(), path, archive); });
}

}  // namespace waybill
