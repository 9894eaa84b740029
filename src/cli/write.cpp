#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/fd.hpp"
#include "base/leftover.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "cli/print.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

// All of the source's bytes, at most `most`.
std::vector<std::byte> read_source(const WriteArguments& arguments) {
    const bool standard_input = arguments.from == "-";
    const Fd opened = standard_input ? Fd() : open_descriptor(arguments.from.c_str(), O_RDONLY);
    if (!standard_input && !opened) {
        throw Error(errno == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error,
                    "--from: cannot open '" + arguments.from + "'", native_errno(errno));
    }
    const int fd = standard_input ? STDIN_FILENO : opened.get();
    std::vector<std::byte> bytes;
    constexpr std::size_t kStep = std::size_t{4} << 20;
    while (!arguments.size_bytes || bytes.size() < *arguments.size_bytes) {
        const std::size_t before = bytes.size();
        const std::size_t step = arguments.size_bytes ? std::min<std::uint64_t>(kStep, *arguments.size_bytes - before) : kStep;
        bytes.resize(before + step);
        const ssize_t count = ::read(fd, bytes.data() + before, step);
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0 && errno != EINTR) {
            throw Error(errno == EISDIR ? ErrorCode::is_directory : ErrorCode::io_error,
                        "--from: cannot read '" + arguments.from + "'", native_errno(errno));
        }
        if (count == 0) {
            break;
        }
    }
    return bytes;
}

// A file that was made for a write which then moved nothing is taken away again.
class NewFile {
public:
    explicit NewFile(const WriteArguments& arguments) {
        if (!arguments.create && !arguments.truncate) {
            return;
        }
        const Fd made = open_descriptor(arguments.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK, 0666);
        if (made) {
            path_ = arguments.file;
        } else if (errno != EEXIST) {
            throw Error(errno == EACCES ? ErrorCode::permission_denied : ErrorCode::io_error,
                        "cannot make '" + arguments.file + "'", native_errno(errno));
        }
    }
    ~NewFile() {
        struct stat state {};
        if (!path_.empty() && ::stat(path_.c_str(), &state) == 0 && state.st_size == 0) {
            ::unlink(path_.c_str());
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void keep() noexcept { path_.clear(); }

private:
    std::string path_;
};

// Only now: a write that was refused or failed leaves what there was.
void cut_after(const std::string& path, std::uint64_t size_bytes) {
    if (::truncate(path.c_str(), static_cast<off_t>(size_bytes)) != 0) {
        throw Error(ErrorCode::io_error, "--truncate: cannot cut '" + path + "' after what was written", native_errno(errno));
    }
}

Receipt write_to(const std::string& path, Mode mode, const WriteArguments& arguments, const std::vector<std::byte>& bytes,
                 bool sync) {
    const Place place = find_place(arguments.via);
    Buffer buffer = place.device < 0 ? Buffer() : Buffer::on_gpu(place.device, bytes.size());
    Request request;
    request.file_offset = arguments.offset;
    request.target = {const_cast<std::byte*>(bytes.data()), bytes.size(), {}, true};
    if (place.device >= 0) {
        buffer.copy_from_host(bytes.data(), 0, bytes.size());
        request.target.pointer = buffer.data();
    }
    request.require = parse_require(arguments.require);
    request.sync = sync;
    const File file = File::open(path, mode, {arguments.settings, {}});
    Future future = file.pwrite(request);
    return wait_visibly(future, file.settings().time_limit.value);
}

// A file beside the target that is gone unless it was kept.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& beside)
        : file_(Leftover::Kind::file, [&] {
              std::string path = beside + ".waybill-XXXXXX";
              fd_ = Fd(::mkostemp(path.data(), O_CLOEXEC));
              return fd_ ? path : std::string();
          }) {
        if (!fd_) {
            throw Error(ErrorCode::io_error, "--atomic: cannot make a file beside '" + beside + "'", native_errno(errno));
        }
        // A new file has the rights of the one that it replaces, or those that the umask leaves.
        struct stat old {};
        const mode_t mask = ::umask(0);
        ::umask(mask);
        ::fchmod(fd_.get(), ::stat(beside.c_str(), &old) == 0 ? old.st_mode & 07777 : 0666 & ~mask);
    }

    [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
    void rename_to(const std::string& target) {
        if (::rename(file_.path().c_str(), target.c_str()) != 0) {
            throw Error(ErrorCode::io_error, "--atomic: cannot rename to '" + target + "'", native_errno(errno));
        }
        file_.keep();
        const std::string folder = std::filesystem::path(target).parent_path().string();
        const Fd opened = open_descriptor(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
        if (opened) {
            ::fsync(opened.get());  // the name too
        }
    }

private:
    Fd fd_;
    Leftover file_;
};

}  // namespace

int run_write(const WriteArguments& arguments) {
    (void)parse_require(arguments.require);
    if (arguments.atomic && arguments.offset != 0) {
        throw Error(ErrorCode::invalid_argument, "--atomic replaces the whole file; --offset does not go with it");
    }
    if (arguments.atomic && std::filesystem::is_directory(arguments.file)) {
        throw Error(ErrorCode::is_directory, "'" + arguments.file + "' is a directory; give a file");
    }
    const std::vector<std::byte> bytes = read_source(arguments);
    Receipt receipt;
    if (arguments.atomic) {
        // Through links to the file that they lead to: a link stays one.
        std::error_code ignored;
        const auto real = std::filesystem::weakly_canonical(arguments.file, ignored);
        const std::string target = ignored ? arguments.file : real.string();
        TemporaryFile temporary(target);
        receipt = write_to(temporary.path(), Mode::read_write, arguments, bytes, true);
        temporary.rename_to(target);
        receipt.file = std::make_shared<const std::string>(arguments.file);
        receipt.notes.emplace_back("written beside the file, synced and renamed");
    } else {
        NewFile made(arguments);
        receipt = write_to(arguments.file, Mode::read_write, arguments, bytes, arguments.fsync);
        made.keep();
        if (arguments.truncate) {
            cut_after(arguments.file, arguments.offset + receipt.moved_bytes);
        }
    }
    print(arguments.json ? to_json(receipt, 2) + "\n" : to_text(receipt));
    return 0;
}

}  // namespace waybill
