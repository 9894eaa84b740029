#include "waybill/file.hpp"

#include <array>
#include <system_error>
#include <vector>

#include "io/consign.hpp"
#include "io/transfer.hpp"

namespace waybill {

Mode parse_mode(std::string_view text) {
    if (text == "r") {
        return Mode::read;
    }
    if (text == "r+") {
        return Mode::read_write;
    }
    if (text == "w") {
        return Mode::write;
    }
    if (text == "w+") {
        return Mode::write_read;
    }
    throw Error(ErrorCode::invalid_argument, "mode '" + std::string(text) + "' is unknown; use r, r+, w or w+");
}

namespace {

std::shared_ptr<Transfer> begin(Direction direction, std::span<const FileAndRequest> requests, const SettingValues& call,
                                bool many) {
    auto transfer = std::make_shared<Transfer>(consign(direction, requests, call, many));
    transfer->run(false);
    return transfer;
}

// Blocks for the whole request. With a time limit other threads move the bytes, so that this one can give up.
Receipt finish(Direction direction, std::span<const FileAndRequest> requests, const SettingValues& call, bool many) {
    Consignment consignment = consign(direction, requests, call, many);
    const std::uint64_t rest_ns = rest_of_limit_ns(consignment);
    const auto transfer = std::make_shared<Transfer>(std::move(consignment));
    transfer->run(rest_ns == 0);
    if (rest_ns != 0 && !transfer->wait_for(std::chrono::nanoseconds(rest_ns))) {
        transfer->cancel();
        throw Error(ErrorCode::timeout,
                    "the request on '" + *requests.front().file->name +
                        "' did not end within its time limit; what has started goes on, so keep the memory until it is done");
    }
    return transfer->take_result();
}

}  // namespace

File::File(std::shared_ptr<OpenFile> open) noexcept : open_(std::move(open)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::filesystem::path& path, Mode mode, const SettingLayers& layers) {
    return File(std::make_shared<OpenFile>(path, mode, layers));
}

Receipt File::read(const Request& request, const SettingValues& call) const {
    return finish(Direction::read, std::array{FileAndRequest{open_.get(), &request}}, call, false);
}

Receipt File::write(const Request& request, const SettingValues& call) const {
    return finish(Direction::write, std::array{FileAndRequest{open_.get(), &request}}, call, false);
}

Future File::pread(const Request& request, const SettingValues& call) const {
    return Future(begin(Direction::read, std::array{FileAndRequest{open_.get(), &request}}, call, false));
}

Future File::pwrite(const Request& request, const SettingValues& call) const {
    return Future(begin(Direction::write, std::array{FileAndRequest{open_.get(), &request}}, call, false));
}

Receipt File::read_many(std::span<const Request> requests, const SettingValues& call) const {
    std::vector<FileAndRequest> all;
    all.reserve(requests.size());
    for (const Request& request : requests) {
        all.push_back({open_.get(), &request});
    }
    if (all.empty()) {
        throw Error(ErrorCode::invalid_argument, "read_many needs at least one request");
    }
    return finish(Direction::read, all, call, true);
}

namespace {

void check_many(std::span<const FileRequest> requests) {
    if (requests.empty()) {
        throw Error(ErrorCode::invalid_argument, "read_many needs at least one request");
    }
    for (const FileRequest& request : requests) {
        if (request.file == nullptr) {
            throw Error(ErrorCode::invalid_argument, "a request of read_many names no file");
        }
    }
}

}  // namespace

Receipt read_many(std::span<const FileRequest> requests, const SettingValues& call) {
    check_many(requests);
    std::vector<FileAndRequest> all;
    all.reserve(requests.size());
    for (const FileRequest& request : requests) {
        all.push_back({request.file->open_.get(), &request.request});
    }
    return finish(Direction::read, all, call, true);
}

Future pread_many(std::span<const FileRequest> requests, const SettingValues& call) {
    check_many(requests);
    std::vector<FileAndRequest> all;
    all.reserve(requests.size());
    for (const FileRequest& request : requests) {
        all.push_back({request.file->open_.get(), &request.request});
    }
    return Future(begin(Direction::read, all, call, true));
}

void File::sync() const {
    if (const std::optional<Error> error = open_->descriptors()->sync(*open_->name)) {
        throw *error;
    }
}

void File::close() noexcept {
    if (open_) {
        open_->close();
    }
}

bool File::closed() const noexcept {
    return !open_ || open_->closed();
}

std::uint64_t File::size() const {
    return file_size(open_->descriptors()->buffered(), *open_->name);
}

const std::filesystem::path& File::path() const noexcept {
    return open_->path;
}

Mode File::mode() const noexcept {
    return open_->mode;
}

int File::descriptor() const noexcept {
    try {
        return open_->descriptors()->buffered();
    } catch (...) {
        return -1;
    }
}

const Settings& File::settings() const noexcept {
    return *open_->settings;
}

FileFacts File::facts() const {
    FileFacts facts = open_->facts();
    facts.size_bytes = size();
    std::error_code ignored;
    facts.resolved = facts.resolved.empty() ? std::filesystem::canonical(open_->path, ignored).string() : facts.resolved;
    return facts;
}

}  // namespace waybill
