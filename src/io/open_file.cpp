#include "io/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "facts/file.hpp"
#include "facts/machine.hpp"
#include "io/receipt_log.hpp"
#include "settings/resolve.hpp"

namespace waybill {
namespace {

int open_flags(Mode mode) noexcept {
    switch (mode) {
        case Mode::read: return O_RDONLY;
        case Mode::read_write: return O_RDWR;
        case Mode::write: return O_WRONLY | O_CREAT | O_TRUNC;
        case Mode::write_read: return O_RDWR | O_CREAT | O_TRUNC;
    }
    return O_RDONLY;
}

[[noreturn]] void throw_open_error(const std::string& name, int problem) {
    const NativeCode native = native_errno(problem);
    throw_if_out_of_descriptors(problem, name);
    switch (problem) {
        case ENOENT:
        case ENOTDIR:
            throw Error(ErrorCode::file_not_found, "no such file: '" + name + "'; check the path", native);
        case EISDIR:
            throw Error(ErrorCode::is_directory, "'" + name + "' is a directory; give a file", native);
        case EACCES:
        case EPERM:
        case EROFS:
            throw Error(ErrorCode::permission_denied, "no permission to open '" + name + "'", native);
        case ENXIO:
            throw Error(ErrorCode::not_regular_file, "'" + name + "' is not a regular file", native);
        default: throw Error(ErrorCode::io_error, "cannot open '" + name + "'", native);
    }
}

Fd open_regular(const std::string& name, Mode mode) {
    // O_NONBLOCK: a FIFO must not hold the caller up. It means nothing for a regular file.
    Fd fd = open_descriptor(name.c_str(), open_flags(mode) | O_NONBLOCK | O_NOCTTY, 0666);
    if (!fd) {
        throw_open_error(name, errno);
    }
    struct stat state {};
    if (::fstat(fd.get(), &state) != 0) {
        throw_open_error(name, errno);
    }
    if (S_ISDIR(state.st_mode)) {
        throw_open_error(name, EISDIR);
    }
    if (!S_ISREG(state.st_mode)) {
        throw Error(ErrorCode::not_regular_file,
                    "'" + name + "' is " + std::string(kind_of_file(state.st_mode)) + ", not a regular file; give one with a size");
    }
    ::fcntl(fd.get(), F_SETFL, 0);  // of the flags that can be set, O_NONBLOCK is the only one
    return fd;
}

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& file_path, Mode file_mode, const SettingLayers& setting_layers)
    : path(file_path), name(std::make_shared<const std::string>(file_path.string())), mode(file_mode),
      layers(setting_layers), settings(shared_settings(setting_layers)),
      may_read(file_mode != Mode::write), may_write(file_mode != Mode::read) {
    (void)machine_root(*settings);  // a bad root is told before the file is touched
    if (name->find('\0') != std::string::npos) {
        throw Error(ErrorCode::invalid_argument, "a path cannot hold a NUL character");
    }
    const std::uint64_t start = now_ns();
    refuse_as_log(*settings, *name);  // before it is truncated
    descriptors_ = std::make_shared<Descriptors>(open_regular(*name, mode));
    refuse_as_log(*settings, *name);  // one that is made now
    open_ns = now_ns() - start;
}

std::shared_ptr<Descriptors> OpenFile::descriptors() const {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    if (!descriptors_) {
        throw Error(ErrorCode::file_closed, "'" + *name + "' is closed; open it again");
    }
    return descriptors_;
}

void OpenFile::close() noexcept {
    std::shared_ptr<Descriptors> last;
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    last.swap(descriptors_);
}

bool OpenFile::closed() const noexcept {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    return descriptors_ == nullptr;
}

const FileFacts& OpenFile::facts() {
    const ForkHold hold;
    std::call_once(gathered_, [this] { facts_ = gather_file(descriptors()->buffered(), *name, machine_root(*settings)); });
    return facts_;
}

const MachineFacts& OpenFile::machine() {
    const MachineFacts* known = machine_.load(std::memory_order_acquire);
    if (known == nullptr) {
        known = &machine_facts(*settings);
        machine_.store(known, std::memory_order_release);
    }
    return *known;
}

std::shared_ptr<const Route> OpenFile::known_route(std::uint32_t key) const {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    const auto found = routes_.find(key);
    return found == routes_.end() ? nullptr : found->second;
}

void OpenFile::keep_route(std::uint32_t key, std::shared_ptr<const Route> route) {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    routes_.insert_or_assign(key, std::move(route));
}

std::shared_ptr<const Settings> OpenFile::settings_for(const SettingValues& call) const {
    if (call.empty()) {
        return settings;
    }
    SettingLayers merged = layers;
    for (const auto& [key, value] : call) {
        merged.call.insert_or_assign(key, value);
    }
    std::shared_ptr<const Settings> settings_of_call = shared_settings(merged);
    if (call.contains("receipts")) {
        refuse_as_log(*settings_of_call, *name);
    }
    return settings_of_call;
}

std::uint64_t OpenFile::take_open_ns() noexcept {
    const ForkHold hold;
    const std::lock_guard lock(mutex_);
    return std::exchange(open_ns, 0);
}

const MachineRoot& machine_root(const Settings& settings) {
    const ForkHold hold;
    static std::mutex mutex;
    static auto& roots = *new std::map<std::string, std::unique_ptr<MachineRoot>>();
    const std::lock_guard lock(mutex);
    auto& root = roots[settings.machine_root.value];
    if (!root) {
        root = std::make_unique<MachineRoot>(settings.machine_root.value);
    }
    return *root;
}

const MachineFacts& machine_facts(const Settings& settings) {
    const ForkHold hold;
    static std::mutex mutex;
    static auto& machines = *new std::map<std::string, std::unique_ptr<MachineFacts>>();
    const std::string key = settings.machine_root.value + '\n' + settings.cufile_library.value + '\n' + settings.cufile_json.value;
    const MachineRoot& root = machine_root(settings);
    const std::lock_guard lock(mutex);
    auto& machine = machines[key];
    if (!machine) {
        machine = std::make_unique<MachineFacts>(gather_machine(root, settings, process_environment()));
    }
    return *machine;
}

FileExtent file_extent(int fd, const std::string& name) {
    constexpr std::uint64_t kStatBlock = 512;  // stat(2)
    struct stat state {};
    if (::fstat(fd, &state) != 0) {
        throw Error(ErrorCode::io_error, "cannot ask the size of '" + name + "'", native_errno(errno));
    }
    const auto size = static_cast<std::uint64_t>(state.st_size);
    return {size, static_cast<std::uint64_t>(state.st_blocks) * kStatBlock < size};
}

std::uint64_t file_size(int fd, const std::string& name) {
    return file_extent(fd, name).size_bytes;
}

}  // namespace waybill
