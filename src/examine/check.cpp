// check() and check_mounts(): facts from the machine or from a saved one, handed to the pure rules of check/.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "check/findings.hpp"
#include "facts/block.hpp"
#include "facts/file.hpp"
#include "facts/machine.hpp"
#include "facts/mount.hpp"
#include "facts/archive.hpp"
#include "facts/save.hpp"
#include "facts/saved_facts.hpp"
#include "facts/surroundings.hpp"
#include "facts/udev.hpp"
#include "settings/resolve.hpp"
#include "waybill/error.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

// A machine, this one or a saved one, with all that is the same for every file.
struct Machine {
    MachineRoot root;
    Settings settings;
    SavedFacts saved;
    Environment environment;
    MachineFacts facts;

    explicit Machine(const SettingLayers& layers, Recording* recording = nullptr) : Machine(MachineRoot("/", recording), layers) {}
    Machine(const SavedMachine& source, const SettingLayers& layers) : Machine(MachineRoot(source.folder(), nullptr, source.name()), layers) {}

private:
    Machine(MachineRoot given, const SettingLayers& layers)
        : root(std::move(given)), settings(resolve_settings(layers)), saved(read_saved_facts(root)),
          environment(root.is_live() ? process_environment() : saved.environment), facts(gather_machine(root, settings, environment)) {
        apply(saved, facts);
    }
};

// Before it is opened: that alone can do something to a device.
void refuse_odd_file(const std::string& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode)) {
        throw Error(ErrorCode::not_regular_file,
                    fmt::format("'{}' is {}, not a file or a folder, so no path leads from it; name a file", path, kind_of_file(state.st_mode)));
    }
}

Fd open_file_or_folder(const std::string& path) {
    refuse_odd_file(path);
    Fd fd = open_descriptor(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd) {
        return fd;
    }
    const int problem = errno;
    throw_if_out_of_descriptors(problem, path);
    if (problem == EACCES || problem == EPERM) {
        throw Error(ErrorCode::permission_denied, "no permission to open '" + path + "'", native_errno(problem));
    }
    throw Error(problem == ENOENT || problem == ENOTDIR ? ErrorCode::file_not_found : ErrorCode::io_error,
                problem == ENOENT || problem == ENOTDIR ? "no such file: '" + path + "'; check the path" : "cannot open '" + path + "'",
                native_errno(problem));
}

FileFacts facts_of(const std::string& path, const Machine& machine) {
    if (!machine.root.is_live()) {
        FileFacts file = gather_file(-1, path, machine.root);
        apply(machine.saved, file);
        return file;
    }
    const Fd fd = open_file_or_folder(path);
    FileFacts file = gather_file(fd.get(), path, machine.root);
    struct stat state {};
    if (::fstat(fd.get(), &state) == 0 && S_ISDIR(state.st_mode)) {
        file.direct_open = unknown_fact<bool>("open with O_DIRECT", "asked of a file alone, and this is a folder");
    }
    std::error_code ignored;
    file.resolved = std::filesystem::canonical(path, ignored).string();
    return file;
}

// The route of a whole read: as `plan` tells it for a file of this machine, by the facts alone otherwise.
Route route_of(const CheckReport& report, const Machine& machine, const SettingLayers& layers) {
    const bool to_gpu = !report.gpu.present.absent();
    struct stat state {};
    if (machine.root.is_live() && ::stat(report.file.c_str(), &state) == 0 && S_ISREG(state.st_mode)) {
        return explain(report.file, to_gpu ? report.device : -1, 0, std::nullopt, layers).route;
    }
    constexpr std::uint64_t kTypicalBytes = std::uint64_t{1} << 30;
    RouteQuestion question;
    question.size_bytes = report.file_facts.size_bytes != 0 && !machine.root.is_live() ? report.file_facts.size_bytes : kTypicalBytes;
    question.to_gpu = to_gpu;
    return choose_route(question, machine.settings, report.file_facts, machine.facts, &report.gpu);
}

// File systems that hold no files of users.
bool keeps_files(const std::string& type) {
    constexpr std::string_view kOthers[] = {"proc",     "sysfs",   "cgroup",     "cgroup2",   "devpts",    "mqueue",  "securityfs", "debugfs",
                                            "tracefs",  "pstore",  "bpf",        "configfs",  "fusectl",   "devtmpfs", "autofs",    "binfmt_misc",
                                            "hugetlbfs", "efivarfs", "rpc_pipefs", "nsfs",     "selinuxfs"};
    return std::find(std::begin(kOthers), std::end(kOthers), type) == std::end(kOthers);
}

FileFacts facts_of_mount(const MountFacts& mount, const Machine& machine) {
    FileFacts file;
    file.path = file.resolved = mount.mount_point;
    file.mount = known_fact(mount, "/proc/self/mountinfo");
    file.device = mount.device;
    file.block = block_of_device(machine.root, mount.device, mount.source);
    file.memory_backed = mount.file_system == "tmpfs" || mount.file_system == "ramfs";
    file.direct_open = unknown_fact<bool>("open with O_DIRECT", "asked of a file alone");
    const UdevRecord udev = read_udev_record(machine.root, mount.device);
    file.udev_record = udev.record;
    file.udev_usage = udev.usage;
    return file;
}

CheckReport report_on(const std::string& path, const std::string& device, const SettingLayers& layers, const Machine& machine) {
    CheckReport report;
    report.file = path;
    report.file_facts = facts_of(path, machine);
    report.surroundings =
        gather_surroundings(machine.root, machine.environment, machine.saved, report.file_facts, machine.facts, device);
    report.device = report.surroundings.device;
    report.machine = machine.facts;
    report.gpu = gpu_of(report.surroundings, machine.root, report.machine);
    report.route = route_of(report, machine, layers);
    const CheckSubject subject{report.file_facts, report.machine, report.gpu, report.surroundings};
    report.direct = direct_verdict(subject);
    report.cufile = cufile_verdict(subject);
    report.findings = find_all(subject);
    return report;
}

// What no file tells, for waybill-facts.json.
SavedFacts facts_to_save(const CheckReport& report, const Environment& environment) {
    SavedFacts saved;
    saved.gpus = report.surroundings.gpus;
    for (GpuFacts& gpu : saved.gpus) {
        gpu.uuid.clear();
    }
    if (report.machine.cufile.version.known()) {
        saved.cufile_version = report.machine.cufile.version.value;
    }
    const auto& missing = report.machine.cufile.missing_dependencies;
    if (!missing.unknown()) {
        saved.missing_dependencies = missing.value;
    }
    saved.modules_readable = report.machine.modules_readable.known();
    for (const auto& [name, value] : environment) {
        if (name.starts_with("CUFILE_") || name == "CUDA_DEVICE_ORDER") {
            saved.environment.emplace(name, value);
        }
    }
    const FileFacts& file = report.file_facts;
    SavedFile& entry = saved.files[file.resolved];
    entry.size_bytes = file.size_bytes;
    if (!file.direct_open.unknown()) {
        entry.direct_open = file.direct_open.known();
    }
    if (file.direct_offset_align.known()) {
        entry.direct_offset_align = file.direct_offset_align.value;
    }
    if (file.direct_memory_align.known()) {
        entry.direct_memory_align = file.direct_memory_align.value;
    }
    return saved;
}

}  // namespace

CheckReport check(const std::filesystem::path& path, const std::string& device, const SettingLayers& layers, const std::string& root) {
    const SavedMachine saved(root);
    return report_on(path.string(), device, layers, Machine(saved, layers));
}

std::vector<MountReport> check_mounts(const std::string& device, const SettingLayers& layers, const std::string& root) {
    const SavedMachine saved(root);
    const Machine machine(saved, layers);
    const SurroundingFacts surroundings =
        gather_surroundings(machine.root, machine.environment, machine.saved, {}, machine.facts, device);
    const GpuFacts gpu = gpu_of(surroundings, machine.root, machine.facts);
    std::vector<MountReport> reports;
    const std::vector<MountFacts> mounts = read_mounts(machine.root).value;
    for (const MountFacts& mount : mounts) {
        // What another is mounted over cannot be reached.
        const bool seen = mount_of_path(mounts, mount.mount_point).value.id == mount.id;
        if (seen && keeps_files(mount.file_system)) {
            const FileFacts file = facts_of_mount(mount, machine);
            const CheckSubject subject{file, machine.facts, gpu, surroundings};
            reports.push_back({mount, direct_verdict(subject), cufile_verdict(subject)});
        }
    }
    return reports;
}

void save_machine(const std::string& archive, const std::filesystem::path& path, const std::string& device, const SettingLayers& layers) {
    PathsLookedAt looked_at;
    const Machine machine(layers, &looked_at);
    const CheckReport report = report_on(path.string(), device, layers, machine);
    const Secrets secrets = Secrets::of_this_machine();
    std::map<std::string, ArchiveEntry> entries = saved_entries(looked_at.paths(), secrets);
    entries["waybill-facts.json"] = {ArchiveEntry::Kind::file, scrub(saved_facts_json(facts_to_save(report, machine.environment)), secrets)};
    archive.ends_with('/') ? write_folder(archive, entries) : write_archive(archive, entries);
}

}  // namespace waybill
