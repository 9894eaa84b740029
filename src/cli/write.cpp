#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/fd.hpp"
#include "base/leftover.hpp"
#include "cli/commands.hpp"
#include "cli/new_file.hpp"
#include "cli/place.hpp"
#include "cli/print.hpp"
#include "cli/write_source.hpp"
#include "cli/write_stream.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

// --atomic puts a file in the place of what there is.
void check_replaceable(const std::string& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0 || S_ISREG(state.st_mode)) {
        return;
    }
    if (S_ISDIR(state.st_mode)) {
        throw Error(ErrorCode::is_directory, "'" + path + "' is a directory; give a file");
    }
    throw Error(ErrorCode::invalid_argument, "--atomic replaces files; '" + path + "' is " + std::string(kind_of_file(state.st_mode)) +
                                                 ", which is written to without it");
}

// Only now: a write that was refused or failed leaves what there was.
void cut_after(const std::string& path, std::uint64_t size_bytes) {
    if (::truncate(path.c_str(), static_cast<off_t>(size_bytes)) != 0) {
        throw Error(ErrorCode::io_error, "--truncate: cannot cut '" + path + "' after what was written", native_errno(errno));
    }
}

Receipt write_to(const std::string& path, const WriteArguments& arguments, WriteStream& stream, bool sync) {
    Request request;
    request.file_offset = arguments.offset;
    request.require = parse_require(arguments.require);
    request.sync = sync;
    return stream.write_to(File::open(path, Mode::read_write, {arguments.settings, {}}), request);
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
        // The name too. A file system that cannot sync folders says EINVAL, and then keeps names as it does.
        if (!opened || (::fsync(opened.get()) != 0 && errno != EINVAL)) {
            throw Error(ErrorCode::io_error, "--atomic: '" + target + "' is replaced, but its folder could not be synced: a crash may bring the old file back",
                        native_errno(errno));
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
    if (arguments.atomic) {
        check_replaceable(arguments.file);
    }
    const Settings settings = resolve_settings({arguments.settings, {}});
    const Patience patience(settings.time_limit.value);
    const int device = start_place(arguments.via, patience).device;
    WriteSource source(arguments.from, arguments.size_bytes);
    if (source.is(arguments.file)) {
        throw Error(ErrorCode::invalid_argument, "--from: '" + arguments.from + "' is the file that is written; give another");
    }
    WriteStream stream(source, device, settings, patience);
    stream.begin();  // nothing is made for a source that gives nothing
    Receipt receipt;
    if (arguments.atomic) {
        // Through links to the file that they lead to: a link stays one.
        std::error_code ignored;
        const auto real = std::filesystem::weakly_canonical(arguments.file, ignored);
        const std::string target = ignored ? arguments.file : real.string();
        TemporaryFile temporary(target);
        receipt = write_to(temporary.path(), arguments, stream, true);
        temporary.rename_to(target);
        receipt.file = std::make_shared<const std::string>(arguments.file);
        receipt.notes.emplace_back("written beside the file, synced and renamed");
    } else {
        NewFile made = arguments.create || arguments.truncate ? NewFile(arguments.file) : NewFile();
        receipt = write_to(arguments.file, arguments, stream, arguments.fsync);
        made.keep();
        if (arguments.truncate) {
            cut_after(arguments.file, arguments.offset + receipt.moved_bytes);
        }
    }
    if (arguments.size_bytes && receipt.moved_bytes < *arguments.size_bytes) {
        receipt.asked_bytes = *arguments.size_bytes;
        receipt.is_short = true;
        receipt.short_reason = "source-ended";
        receipt.notes.emplace_back("the source ended before --size bytes");
    }
    print(arguments.json ? to_json(receipt, 2) + "\n" : to_text(receipt));
    return 0;
}

}  // namespace waybill
