// OpenFile: what a File stands for: path, mode, settings, descriptors, and the facts that were gathered of it.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/root.hpp"
#include "io/descriptors.hpp"
#include "waybill/file.hpp"

namespace waybill {

struct OpenFile {
    OpenFile(const std::filesystem::path& path, Mode mode, const SettingLayers& layers);

    std::filesystem::path path;
    std::shared_ptr<const std::string> name;
    Mode mode;
    SettingLayers layers;
    std::shared_ptr<const Settings> settings;
    std::uint64_t open_ns = 0;
    bool may_read = false;
    bool may_write = false;

    // Throws Error file_closed.
    [[nodiscard]] std::shared_ptr<Descriptors> descriptors() const;
    void close() noexcept;
    [[nodiscard]] bool closed() const noexcept;

    // Gathered once, on first need: mount, device and alignment don't change under an open descriptor. Its size does, and
    // is asked at each request; the udev record is what it was at the first request.
    [[nodiscard]] const FileFacts& facts();

    // This machine under the file's own settings.
    [[nodiscard]] const MachineFacts& machine();

    // The route of small requests depends on nothing that changes between them: it is chosen once for each kind of request.
    // `key` tells the kinds apart; null when it is not there yet.
    [[nodiscard]] std::shared_ptr<const Route> known_route(std::uint32_t key) const;
    void keep_route(std::uint32_t key, std::shared_ptr<const Route> route);

    // The settings of one call: the file's own when `call` is empty.
    [[nodiscard]] std::shared_ptr<const Settings> settings_for(const SettingValues& call) const;
    // The time it took to open, once: the first request's receipt tells it.
    [[nodiscard]] std::uint64_t take_open_ns() noexcept;

private:
    mutable std::mutex mutex_;
    std::shared_ptr<Descriptors> descriptors_;
    std::once_flag gathered_;
    FileFacts facts_;
    std::atomic<const MachineFacts*> machine_{nullptr};
    std::map<std::uint32_t, std::shared_ptr<const Route>> routes_;
};

// The root of these settings, made once and kept.
[[nodiscard]] const MachineRoot& machine_root(const Settings& settings);

// The size of an open file now. Throws Error io_error.
struct FileExtent {
    std::uint64_t size_bytes = 0;
    bool is_sparse = false;  // takes less storage than that: holes, or compression
};
[[nodiscard]] FileExtent file_extent(int fd, const std::string& name);
[[nodiscard]] std::uint64_t file_size(int fd, const std::string& name);

}  // namespace waybill
