#include "io/routing.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "facts/limits.hpp"
#include "gpu/devices.hpp"
#include "io/open_file.hpp"
#include "route/join.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Smaller requests are not worth a look at the cache: their own calls tell where the bytes were.
constexpr std::uint64_t kResidencyFromBytes = kMiB;
// A larger range is sampled: looking at each page of it would cost a notable part of a hot read.
constexpr std::uint64_t kWholeResidencyBytes = 64 * kMiB;
constexpr std::uint64_t kResidencySamples = 16;

}  // namespace

Residency residency_for_route(int fd, std::uint64_t offset, std::uint64_t size_bytes) {
    if (size_bytes < kResidencyFromBytes) {
        return {};
    }
    if (size_bytes <= kWholeResidencyBytes) {
        return measure_residency(fd, offset, size_bytes);
    }
    Residency sum;
    const std::uint64_t stride = size_bytes / kResidencySamples;
    for (std::uint64_t k = 0; k < kResidencySamples; ++k) {
        const Residency sample = measure_residency(fd, offset + k * stride, kMiB);
        if (sample.state == Residency::State::unknown) {
            return sample;
        }
        sum.cached_bytes += sample.cached_bytes;
        sum.dirty_bytes += sample.dirty_bytes;
        sum.range_bytes += sample.range_bytes;
        sum.source = sample.source + fmt::format(", {} samples of 1 MiB", kResidencySamples);
    }
    sum.state = Residency::State::partial;
    return sum;
}

MachineFacts with_free_memory_now(const MachineFacts& machine, const Settings& settings) {
    MachineFacts now = machine;
    now.free_memory_bytes = free_memory_bytes(machine_root(settings));
    return now;
}

namespace {

// `part` is the one of the file that is asked about; its size is the call's largest.
RouteQuestion question_of(const Consignment& consignment, const PointerOwner& owner, const Part& part) {
    RouteQuestion question;
    question.direction = consignment.direction;
    for (const Part& each : consignment.parts) {
        question.size_bytes = std::max(question.size_bytes, each.size_bytes);
    }
    question.to_gpu = owner.on_gpu();
    question.managed_memory = owner.memory == MemoryKind::managed;
    question.require = consignment.require;
    if (consignment.direction == Direction::read) {
        question.residency = residency_for_route(part.file->descriptors->buffered(), part.work.file_offset, part.size_bytes);
    }
    return question;
}

Route choose(const Consignment& consignment, const Part& part, const RouteQuestion& question, OpenFile& file,
             const MachineFacts& machine, const GpuFacts* gpu) {
    const Settings& settings = *consignment.settings;
    const FactsWanted wanted = facts_wanted(question, settings);
    static const FileFacts not_looked_at;
    const FileFacts& facts = wanted.file ? file.facts() : not_looked_at;
    if (!wanted.free_memory) {
        return choose_route(question, settings, facts, machine, gpu);
    }
    FileFacts grown = facts;
    grown.size_bytes = file_size(part.file->descriptors->buffered(), *file.name);
    return choose_route(question, settings, grown, with_free_memory_now(machine, settings), gpu);
}

// What tells the routes of small requests apart.
std::uint32_t kind_of(const RouteQuestion& question, int device, const Settings& settings) {
    return static_cast<std::uint32_t>(question.direction) | static_cast<std::uint32_t>(question.to_gpu) << 1 |
           static_cast<std::uint32_t>(question.managed_memory) << 2 |
           static_cast<std::uint32_t>(question.size_bytes < settings.gds_threshold.value) << 3 |
           static_cast<std::uint32_t>(question.require) << 4 | static_cast<std::uint32_t>(device) << 8;
}

std::shared_ptr<const Route> route_of_file(Consignment& consignment, const PointerOwner& owner, Part& part, OpenFile& file,
                                           const MachineFacts& machine) {
    const RouteQuestion question = question_of(consignment, owner, part);
    const Residency& cache = question.residency;
    part.likely_cached =
        cache.range_bytes == 0 || cache.state == Residency::State::unknown || cache.cached_bytes == cache.range_bytes;
    if (question.residency.range_bytes != 0 && !consignment.residency) {
        consignment.residency = question.residency;
    }
    const bool small = question.size_bytes < kResidencyFromBytes && consignment.settings == file.settings;
    const std::uint32_t kind = kind_of(question, owner.device, *consignment.settings);
    std::shared_ptr<const Route> route = small ? file.known_route(kind) : nullptr;
    if (!route) {
        const GpuFacts* gpu = owner.on_gpu() ? &gpu_device(owner.device).facts : nullptr;
        route = std::make_shared<const Route>(choose(consignment, part, question, file, machine, gpu));
        if (small) {
            file.keep_route(kind, route);
        }
    }
    return route;
}

[[noreturn]] void refuse(const Route& route, const std::string& name) {
    const bool required = route.refused->id == "require-not-met";
    throw Error(required ? ErrorCode::route_refused : ErrorCode::cufile_unavailable,
                required ? fmt::format("'{}': {}", name, route.refused->text)
                         : fmt::format("compat_mode=off, and cuFile cannot serve '{}': {} ({}); set compat_mode=auto to let "
                                       "Waybill stage the bytes",
                                       name, route.refused->text, route.refused->id));
}

}  // namespace

std::shared_ptr<const Route> route_call(Consignment& consignment, const PointerOwner& owner,
                                        std::span<const FileAndRequest> requests, const MachineFacts& machine) {
    std::shared_ptr<const Route> together;
    std::map<const OpenFile*, std::size_t> asked;  // by its first part; left empty for a single request
    std::vector<Part>& parts = consignment.parts;
    for (std::size_t k = 0; k < requests.size(); ++k) {
        OpenFile& file = *requests[k].file;
        if (k != 0 && requests[k - 1].file == &file) {
            parts[k].likely_cached = parts[k - 1].likely_cached;
            continue;
        }
        if (requests.size() > 1) {
            if (const auto [first, fresh] = asked.try_emplace(&file, k); !fresh) {
                parts[k].likely_cached = parts[first->second].likely_cached;
                continue;
            }
        }
        const std::shared_ptr<const Route> route = route_of_file(consignment, owner, parts[k], file, machine);
        if (route->refused) {
            refuse(*route, *file.name);
        }
        together = together ? std::make_shared<const Route>(join(*together, *route, *file.name)) : route;
    }
    return together;
}

}  // namespace waybill
