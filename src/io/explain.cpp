#include <fmt/format.h>

#include "facts/residency.hpp"
#include "io/open_file.hpp"
#include "waybill/file.hpp"

namespace waybill {

Explanation explain(const std::filesystem::path& path, int device, std::uint64_t file_offset,
                    std::optional<std::uint64_t> size_bytes, const SettingLayers& layers) {
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
    question.residency = measure_residency(fd, file_offset, question.size_bytes);
    const MachineFacts& machine = machine_facts(*file.settings);
    // The driver is not asked: looking must not initialise CUDA.
    GpuFacts gpu;
    gpu.device = device;
    explanation.route = choose_route(question, *file.settings, explanation.file, machine, device >= 0 ? &gpu : nullptr);
    explanation.plan = make_plan(explanation.route, question.size_bytes, *file.settings, machine.cufile);
    return explanation;
}

}  // namespace waybill
