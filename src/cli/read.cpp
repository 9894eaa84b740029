#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/hash.hpp"
#include "cli/new_file.hpp"
#include "cli/place.hpp"
#include "cli/print.hpp"
#include "waybill/waybill.hpp"

namespace waybill {
namespace {

constexpr const char* kTooLarge = ": it would be larger than this process (ulimit -f) or its file system allows";
constexpr std::uint64_t kChunkBytes = std::uint64_t{16} << 20;

// Calls `use` with the bytes in host memory, chunk by chunk.
template <class Use>
void for_each_chunk(const Buffer& buffer, std::uint64_t size_bytes, Use use) {
    std::vector<std::byte> chunk(std::min(kChunkBytes, size_bytes));
    for (std::uint64_t offset = 0; offset < size_bytes; offset += kChunkBytes) {
        const std::uint64_t count = std::min(kChunkBytes, size_bytes - offset);
        if (buffer.device() < 0) {
            use(static_cast<const std::byte*>(buffer.data()) + offset, count);
        } else {
            buffer.copy_to_host(chunk.data(), offset, count);
            use(chunk.data(), count);
        }
    }
}

std::string hash_of(const Buffer& buffer, std::uint64_t size_bytes) {
    Sha256 hash;
    for_each_chunk(buffer, size_bytes, [&](const std::byte* bytes, std::uint64_t count) { hash.add(bytes, count); });
    return hash.finish();
}

Fd open_output(const std::string& path, const File& source) {
    Fd out = open_descriptor(path.c_str(), O_WRONLY | O_CREAT, 0666);
    if (!out) {
        throw_if_out_of_descriptors(errno, path);
        throw Error(ErrorCode::io_error, "--out: cannot open '" + path + "'", native_errno(errno));
    }
    struct stat ours {};
    struct stat theirs {};
    if (::fstat(out.get(), &ours) == 0 && ::fstat(source.descriptor(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
        ours.st_ino == theirs.st_ino) {
        throw Error(ErrorCode::invalid_argument, "--out: '" + path + "' is the file that is read; give another");
    }
    return out;
}

// What the file held is gone only now, when there is something to replace it with.
void write_out(const Fd& out, const std::string& path, const Buffer& buffer, std::uint64_t size_bytes) {
    if (::ftruncate(out.get(), 0) != 0 && errno != EINVAL) {
        throw Error(ErrorCode::io_error, "--out: cannot empty '" + path + "'", native_errno(errno));
    }
    for_each_chunk(buffer, size_bytes, [&](const std::byte* bytes, std::uint64_t count) {
        while (count != 0) {
            const ssize_t written = ::write(out.get(), bytes, count);
            if (written < 0 && errno != EINTR) {
                throw Error(errno == ENOSPC || errno == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
                            "--out: cannot write '" + path + "'" + (errno == EFBIG ? kTooLarge : ""), native_errno(errno));
            }
            bytes += std::max<ssize_t>(written, 0);
            count -= static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
        }
    });
}

std::uint64_t bytes_to_hold(const File& file, const ReadArguments& arguments) {
    const std::uint64_t size = file.size();
    if (arguments.offset > size) {
        return 0;  // the read itself tells what is wrong
    }
    return std::min(arguments.size_bytes.value_or(size - arguments.offset), size - arguments.offset);
}

}  // namespace

int run_read(const ReadArguments& arguments) {
    const Require require = parse_require(arguments.require);
    const File file = File::open(arguments.file, Mode::read, {arguments.settings, {}});
    const std::uint64_t limit_ns = file.settings().time_limit.value;
    const Place place = start_place(arguments.to, Patience(limit_ns));
    const std::uint64_t room = bytes_to_hold(file, arguments);
    // Shared with the requests: after a time-out the kernel may still write to it.
    const auto shared = std::make_shared<const Buffer>(place.device < 0 ? Buffer::on_host(room) : Buffer::on_gpu(place.device, room));
    const Buffer& buffer = *shared;
    NewFile made = arguments.out ? NewFile(*arguments.out) : NewFile();
    const Fd out = arguments.out ? open_output(*arguments.out, file) : Fd();
    Request request;
    request.file_offset = arguments.offset;
    request.size_bytes = arguments.size_bytes;
    request.target = {buffer.data(), room, std::const_pointer_cast<Buffer>(shared), false};
    request.room_is_of_file = true;
    request.require = require;
    for (std::uint64_t turn = 0; turn < arguments.repeat; ++turn) {
        const Patience patience(limit_ns);
        Future future = file.pread(request);
        Receipt receipt = wait_visibly(future, patience);
        if (!place.note.empty()) {
            receipt.notes.push_back(place.note);
        }
        const bool last = turn + 1 == arguments.repeat;
        if (last && arguments.sha256) {
            receipt.sha256 = hash_of(buffer, receipt.moved_bytes);
        }
        if (last && out) {
            write_out(out, *arguments.out, buffer, receipt.moved_bytes);
            made.keep();
        }
        if (arguments.json) {
            print(to_json(receipt, arguments.repeat == 1 ? 2 : -1) + "\n");
        } else if (last) {
            print(to_text(receipt));
        } else {
            print(fmt::format("{:>4}  {:>10}  {:.2f} GB/s  {}  {}\n", turn + 1, duration_text(receipt.times.total_ns),
                              gb_per_s(receipt), to_text(receipt.path), to_text(receipt.judgement)));
        }
    }
    return 0;
}

}  // namespace waybill
