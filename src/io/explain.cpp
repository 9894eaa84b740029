#include <fmt/format.h>

#include "base/device_name.hpp"
#include "base/environment.hpp"
#include "facts/surroundings.hpp"
#include "gpu/cufile.hpp"
#include "gpu/devices.hpp"
#include "io/open_file.hpp"
#include "io/routing.hpp"
#include "plan/alternatives.hpp"
#include "plan/slow_shapes.hpp"
#include "plan/threads.hpp"
#include "settings/resolve.hpp"
#include "waybill/buffer.hpp"
#include "waybill/file.hpp"

namespace waybill {
namespace {

// Looking must not initialise CUDA: what the driver told this process before, else what files tell. None for the host's memory.
std::optional<GpuFacts> gpu_without_driver(int device, const Settings& settings, const MachineFacts& machine) {
    if (device < 0) {
        return std::nullopt;
    }
    const MachineRoot& root = machine_root(settings);
    const GpuDevice* const known = root.is_live() ? gpu_if_known(device) : nullptr;
    return known != nullptr ? known->facts : gpu_by_files(device, root, process_environment(), machine);
}

// A name's number in the order that gpu_without_driver() goes by.
int device_without_driver(const std::string& text, const SettingLayers& layers) {
    const DeviceName name = parse_device_name(text);
    const MachineRoot& root = machine_root(resolve_settings(layers));
    const bool driver_knows = root.is_live() && is_any_gpu_known();
    return device_among(driver_knows ? list_gpus() : gpus_by_files(root, process_environment()), name);
}

// Where a read without a device would go.
int default_device(const SettingLayers& layers) {
    const Settings settings = resolve_settings(layers);
    const MachineFacts& machine = machine_facts(settings);
    const std::optional<GpuFacts> gpu = gpu_without_driver(0, settings, machine);
    const bool none = gpu->present.absent() || gpu->driver.absent();
    return none && !machine.wsl ? -1 : 0;  // of a GPU under WSL the driver alone tells
}

}  // namespace

Explanation explain(const std::filesystem::path& path, const std::optional<std::string>& device, std::uint64_t file_offset,
                    std::optional<std::uint64_t> size_bytes, const SettingLayers& layers, bool registered) {
    const int number = device ? device_without_driver(*device, layers) : default_device(layers);
    Explanation explanation = explain(path, number, file_offset, size_bytes, layers, registered);
    if (!device && number < 0) {
        explanation.notes.emplace_back("no GPU can be used here, so a read without a device goes to host memory; a plan for gpu:0 tells why");
    }
    return explanation;
}

Explanation explain(const std::filesystem::path& path, int device, std::uint64_t file_offset,
                    std::optional<std::uint64_t> size_bytes, const SettingLayers& layers, bool registered) {
    OpenFile file(path, Mode::read, layers);
    const int fd = file.descriptors()->buffered();
    const std::uint64_t size = file_size(fd, *file.name);
    if (file_offset > size) {
        throw Error(ErrorCode::offset_past_end,
                    fmt::format("offset {} is past the end of '{}' ({} bytes)", file_offset, *file.name, size));
    }
    Explanation explanation;
    explanation.device = device;
    explanation.file_offset = file_offset;
    explanation.settings = *file.settings;
    explanation.file = file.facts();
    explanation.file.size_bytes = size;
    RouteQuestion question;
    question.size_bytes = std::min(size_bytes.value_or(size - file_offset), size - file_offset);
    question.to_gpu = device >= 0;
    question.residency = residency_for_route(fd, file_offset, question.size_bytes);
    const MachineFacts machine = with_free_memory_now(machine_facts(*file.settings), *file.settings);
    const std::optional<GpuFacts> gpu = gpu_without_driver(device, *file.settings, machine);
    explanation.route = choose_route(question, *file.settings, explanation.file, machine, gpu ? &*gpu : nullptr);
    explanation.cufile = machine.cufile;
    explanation.use.registered = registered;
    if (const CufileDriver* const driver = cufile_if_open(); driver != nullptr && driver->version != 0) {
        explanation.use.version = driver->version;
    }
    const Settings& settings = *file.settings;
    const Route& route = explanation.route;
    explanation.plan = make_plan(route, question.size_bytes, settings, machine.cufile, explanation.use);
    explanation.threads =
        std::min(std::max<std::uint64_t>(1, explanation.plan.tasks.count),
                 choose_threads({route.engine, Direction::read, question.size_bytes, 1, machine.cores}, settings));
    explanation.alternatives = list_alternatives(explanation.plan, route, settings, machine.cufile, explanation.use);
    explanation.slow_shapes =
        list_slow_shapes(explanation.plan, route, settings, machine.cufile, explanation.use, {file_offset, explanation.threads});
    return explanation;
}

}  // namespace waybill
