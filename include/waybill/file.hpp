// File: an open file whose bytes move to and from GPU or host memory, each request with a receipt.
//
// Owner of its descriptors; moveable, not copyable. Any number of threads may use one File at once, close() included:
// requests that run when it is closed end with their bytes or with Error file_closed, and descriptors are closed after
// the last one. Requests that are on their way keep the file open beyond the File's end.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "waybill/facts.hpp"
#include "waybill/future.hpp"
#include "waybill/plan.hpp"
#include "waybill/receipt.hpp"
#include "waybill/request.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// `r` reads; `r+` reads and writes; `w` creates or truncates, and writes; `w+` does that and reads too.
enum class Mode { read, read_write, write, write_read };

// The mode of that text. Throws Error invalid_argument naming what is accepted.
[[nodiscard]] Mode parse_mode(std::string_view text);

struct OpenFile;  // src/io
struct FileRequest;

// An open file.
class File {
public:
    // Opens; loads no GPU library. Throws Error file_not_found, is_directory, not_regular_file, permission_denied,
    // bad_setting, io_error.
    [[nodiscard]] static File open(const std::filesystem::path& path, Mode mode = Mode::read,
                                   const SettingLayers& layers = {});
    File(File&&) noexcept;
    File& operator=(File&&) noexcept;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();

    // Moves the whole request; blocks until all bytes are in place. The end of the file, on every path: a request that
    // crosses it moves what there is and the receipt says short; an offset at the end moves nothing; one past it throws
    // Error offset_past_end. `call` holds settings for this call alone.
    // Throws Error; codes in error.hpp. Once bytes have moved, the Error carries a receipt with the good ranges.
    Receipt read(const Request& request, const SettingValues& call = {}) const;
    Receipt write(const Request& request, const SettingValues& call = {}) const;

    // The same, without waiting for the bytes. Errors of the arguments and of the route are thrown here; those of the
    // transfer by Future::get().
    [[nodiscard]] Future pread(const Request& request, const SettingValues& call = {}) const;
    [[nodiscard]] Future pwrite(const Request& request, const SettingValues& call = {}) const;

    // Many requests in one call: one receipt with totals, and a result for each. All targets are of one kind. Blocks, and throws as
    // read(); of no requests at all, Error invalid_argument.
    Receipt read_many(std::span<const Request> requests, const SettingValues& call = {}) const;

    // Blocks until what was written before is on storage (fsync). Throws Error io_error, disk_full, file_closed; after a failure a
    // later success says nothing of those bytes: write them again.
    void sync() const;

    // Ends new requests at once; see above for running ones. Idempotent, never throws.
    void close() noexcept;
    [[nodiscard]] bool closed() const noexcept;

    [[nodiscard]] std::uint64_t size() const;  // bytes, now; throws Error file_closed, io_error
    // As it was opened; the settings are those of requests that name none.
    [[nodiscard]] const std::filesystem::path& path() const noexcept;
    [[nodiscard]] Mode mode() const noexcept;
    [[nodiscard]] int descriptor() const noexcept;  // the buffered one, -1 when closed; still the File's
    [[nodiscard]] const Settings& settings() const noexcept;
    // What a route is decided by. Throws Error file_closed.
    [[nodiscard]] FileFacts facts() const;

private:
    friend Receipt read_many(std::span<const FileRequest> requests, const SettingValues& call);
    friend Future pread_many(std::span<const FileRequest> requests, const SettingValues& call);
    explicit File(std::shared_ptr<OpenFile> open) noexcept;
    std::shared_ptr<OpenFile> open_;
};

// A request that names its own file.
struct FileRequest {
    const File* file = nullptr;
    Request request;
};

// read_many over several files, with the first one's settings, and the same without waiting. Throw as File::read_many(), whose
// thread safety they share.
Receipt read_many(std::span<const FileRequest> requests, const SettingValues& call = {});
[[nodiscard]] Future pread_many(std::span<const FileRequest> requests, const SettingValues& call = {});

// What a read would do, before any read: no GPU library is loaded for device < 0, and none is opened.
struct Explanation {
    int device = -1;               // CUDA's ordinal, -1 for host memory
    std::uint64_t file_offset = 0;
    FileFacts file;
    Route route;
    Plan plan;
    Settings settings;
    std::uint64_t threads = 1;             // of Waybill's that would move it
    CufileFacts cufile;
    CufileUse use;
    std::vector<Alternative> alternatives; // what each setting would change
    std::vector<Reason> slow_shapes;       // known to cost speed: id and one sentence each
    std::vector<std::string> notes;        // what was taken for granted, one sentence each
};
// The route and plan of such a read. `device` < 0: host memory. `size_bytes` absent: to the end. Any thread; blocks for the facts.
// `registered`: as if the destination were registered with cuFile. Throws as File::open, and offset_past_end.
[[nodiscard]] Explanation explain(const std::filesystem::path& path, int device, std::uint64_t file_offset = 0,
                                  std::optional<std::uint64_t> size_bytes = {}, const SettingLayers& layers = {},
                                  bool registered = false);
// `device` by name, as find_device() reads it, looked up without initialising CUDA: in what this process has asked the driver
// before, else in what files tell. None: GPU 0, or host memory with a note where there is none. Throws no_gpu too.
[[nodiscard]] Explanation explain(const std::filesystem::path& path, const std::optional<std::string>& device,
                                  std::uint64_t file_offset = 0, std::optional<std::uint64_t> size_bytes = {},
                                  const SettingLayers& layers = {}, bool registered = false);

// For people: the first line answers. For machines: schema "waybill.plan/1".
[[nodiscard]] std::string to_text(const Explanation& explanation);
[[nodiscard]] std::string to_json(const Explanation& explanation, int indent = -1);

// This machine (or the one under `machine_root`), read once a process and root; lives as long as the process. Any thread.
[[nodiscard]] const MachineFacts& machine_facts(const Settings& settings);

}  // namespace waybill
