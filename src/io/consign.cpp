#include "io/consign.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "facts/limits.hpp"
#include "facts/residency.hpp"
#include "gpu/devices.hpp"
#include "io/checks.hpp"
#include "io/order.hpp"
#include "io/registered.hpp"
#include "plan/threads.hpp"
#include "route/fallback.hpp"
#include "stats/writer.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Smaller requests are not worth a look at the cache: their own calls tell where the bytes were.
constexpr std::uint64_t kResidencyFromBytes = kMiB;
// A larger range is sampled: looking at each page of it would cost a notable part of a hot read.
constexpr std::uint64_t kWholeResidencyBytes = 64 * kMiB;
constexpr std::uint64_t kResidencySamples = 16;
// Counters of the whole process are read at the edges of requests from this size on, where their cost is nothing.
constexpr std::uint64_t kCountersFromBytes = 64 * kMiB;
// Below this a unit costs more in calls than another thread saves (measured: docs/measurements).
constexpr std::uint64_t kLeastUnitBytes = 512 * 1024;
constexpr std::uint64_t kLeastOverlapBytes = 256 * 1024;
// Copies of requests under this size are waited for by spinning: sleeping would cost more than the copy.
constexpr std::uint64_t kSpinBelowBytes = 16 * kMiB;

Residency look_at_cache(int fd, std::uint64_t offset, std::uint64_t size_bytes) {
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

void check_same_memory(const PointerOwner& first, const PointerOwner& other) {
    if (first.on_gpu() != other.on_gpu() || first.device != other.device || first.context != other.context) {
        throw Error(ErrorCode::invalid_argument,
                    "the requests of one call need memory of one kind: all on the host, or all on one GPU in one context");
    }
}

Destination destination_of(const PointerOwner& owner) {
    Destination destination;
    destination.memory = owner.memory;
    destination.device = owner.device;
    destination.name = owner.on_gpu() ? gpu_device(owner.device).facts.name : "host";
    return destination;
}

// Parts, owners and the kind of memory of all requests.
PointerOwner add_parts(Consignment& consignment, std::span<const FileAndRequest> requests) {
    PointerOwner owner;
    bool known = false;
    consignment.parts.reserve(requests.size());
    for (const auto& [file, request] : requests) {
        Part part;
        part.descriptors = file->descriptors();
        part.name = file->name;
        const RequestRange range = check_range(consignment.direction, *file, part.descriptors->buffered(), *request);
        part.asked_bytes = range.asked_bytes;
        part.size_bytes = range.size_bytes;
        part.work.direction = consignment.direction;
        part.work.file_offset = request->file_offset;
        part.work.memory = static_cast<std::byte*>(request->target.pointer) + request->target_offset;
        if (request->target.pointer != nullptr) {
            const PointerOwner found = find_owner(request->target.pointer);
            if (known) {
                check_same_memory(owner, found);
            }
            // Managed memory is always staged, whatever else the call reads into.
            if (!known || found.memory == MemoryKind::managed) {
                owner = found;
            }
            known = true;
            check_device_range(found, *request, range.size_bytes);
        }
        if (request->target.owner) {
            consignment.owners.push_back(request->target.owner);
        }
        consignment.sync = consignment.sync || request->sync;
        consignment.open_ns += file->take_open_ns();
        consignment.parts.push_back(std::move(part));
    }
    return owner;
}

RouteQuestion question_of(const Consignment& consignment, const PointerOwner& owner, const Request& request) {
    RouteQuestion question;
    question.direction = consignment.direction;
    for (const Part& part : consignment.parts) {
        question.size_bytes = std::max(question.size_bytes, part.size_bytes);
    }
    question.to_gpu = owner.on_gpu();
    question.managed_memory = owner.memory == MemoryKind::managed;
    question.require = request.require;
    const Part& first = consignment.parts.front();
    if (consignment.direction == Direction::read && first.size_bytes >= kResidencyFromBytes) {
        question.residency = look_at_cache(first.descriptors->buffered(), first.work.file_offset, first.size_bytes);
    }
    return question;
}

Route choose(const Consignment& consignment, const RouteQuestion& question, OpenFile& file, const MachineFacts& machine,
             const GpuFacts* gpu) {
    const Settings& settings = *consignment.settings;
    const FactsWanted wanted = facts_wanted(question, settings);
    static const FileFacts not_looked_at;
    const FileFacts& facts = wanted.file ? file.facts() : not_looked_at;
    if (!wanted.free_memory) {
        return choose_route(question, settings, facts, machine, gpu);
    }
    // Whether a cold file fits in memory is a question of this moment.
    MachineFacts now = machine;
    now.free_memory_bytes = free_memory_bytes(machine_root(settings));
    FileFacts grown = facts;
    grown.size_bytes = file_size(consignment.parts.front().descriptors->buffered(), *file.name);
    return choose_route(question, settings, grown, now, gpu);
}

// What tells the routes of small requests apart.
std::uint32_t kind_of(const RouteQuestion& question, int device, const Settings& settings) {
    return static_cast<std::uint32_t>(question.direction) | static_cast<std::uint32_t>(question.to_gpu) << 1 |
           static_cast<std::uint32_t>(question.managed_memory) << 2 |
           static_cast<std::uint32_t>(question.size_bytes < settings.gds_threshold.value) << 3 |
           static_cast<std::uint32_t>(question.require) << 4 | static_cast<std::uint32_t>(device) << 8;
}

std::shared_ptr<const Route> route_of(Consignment& consignment, const PointerOwner& owner, OpenFile& file, const Request& request,
                                      const MachineFacts& machine) {
    const RouteQuestion question = question_of(consignment, owner, request);
    if (question.residency.range_bytes != 0) {
        consignment.residency = question.residency;
    }
    const bool small = question.size_bytes < kResidencyFromBytes && consignment.settings == file.settings;
    const std::uint32_t kind = kind_of(question, owner.device, *consignment.settings);
    std::shared_ptr<const Route> route = small ? file.known_route(kind) : nullptr;
    if (!route) {
        const GpuFacts* gpu = owner.on_gpu() ? &gpu_device(owner.device).facts : nullptr;
        route = std::make_shared<const Route>(choose(consignment, question, file, machine, gpu));
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

// Opens cuFile and registers every file with it.
void prepare_cufile(Consignment& consignment) {
    const Settings& settings = *consignment.settings;
    CufileOptions options;
    options.library = settings.cufile_library.value;
    options.json = settings.cufile_json.value;
    options.open_timeout_ns = settings.driver_timeout.value;
    options.try_in_child_first = consignment.route->suspicious_driver;
    options.statistics = settings.evidence.value != EvidenceLevel::off || consignment.require != Require::none;
    const CurrentContext current(consignment.lading.owner.context);
    const CufileDriver& driver = cufile_driver(options);
    consignment.lading.cufile = &driver.api;
    for (Part& part : consignment.parts) {
        part.work.file.cufile = part.descriptors->cufile_handle(driver, consignment.route->cufile_direct_descriptor);
        part.work.registered_base = registered_base(part.work.memory, part.size_bytes);
        consignment.destination.registered = consignment.destination.registered || part.work.registered_base != nullptr;
    }
    if (const std::string* problem = driver.statistics_problem; options.statistics && problem != nullptr) {
        consignment.notes.push_back("cuFile's counters are not there: " + *problem);
    }
}

// Under `off` a refusal is the answer; under `auto` the bytes are staged, and the receipt says why.
void prepare_cufile_or_stage(Consignment& consignment) {
    try {
        prepare_cufile(consignment);
    } catch (const Error& error) {
        const std::shared_ptr<const Route> wanted = consignment.route;
        if (!may_fall_back(*wanted, *consignment.settings, consignment.require)) {
            const Error told = wanted->doubt
                                   ? error.with_advice(fmt::format("likely because {} ({})", wanted->doubt->text, wanted->doubt->id))
                                   : error;
            throw told.with_advice("set compat_mode=auto to let Waybill stage the bytes");
        }
        consignment.route = std::make_shared<const Route>(fall_back(*wanted, {"cufile-refused", error.what()}));
    }
}

void prepare_files(Consignment& consignment, OpenFile& file) {
    const Route& route = *consignment.route;
    const bool direct_write = consignment.direction == Direction::write && consignment.settings->direct_write.value;
    const bool direct = direct_write || (consignment.direction == Direction::read && route.page_cache != PageCacheUse::use);
    const auto& cache = consignment.residency;
    const bool likely_cached = !cache || cache->state == Residency::State::unknown || cache->cached_bytes == cache->range_bytes;
    std::size_t align = 4096;
    if (direct) {
        const FileFacts& facts = file.facts();
        align = std::max<std::size_t>(align, std::max(facts.direct_offset_align.value, facts.direct_memory_align.value));
    }
    for (Part& part : consignment.parts) {
        EngineFile& engine_file = part.work.file;
        engine_file.buffered = part.descriptors->buffered();
        engine_file.direct_align = align;
        part.work.page_cache = route.page_cache;
        part.work.direct_write = direct_write;
        // A slot has room for no more than this at its ends.
        if (direct && align <= 64 * 1024) {
            engine_file.direct = part.descriptors->direct();
        }
        if (consignment.direction == Direction::read && file.may_read && (direct || part.size_bytes >= 256 * 1024)) {
            engine_file.random = part.descriptors->random();
        }
        if (consignment.direction == Direction::read && (!likely_cached || route.page_cache == PageCacheUse::bypass)) {
            part.work.picture = CachePicture::take(engine_file.buffered, part.work.file_offset, part.size_bytes);
        }
    }
}

void plan_parts(Consignment& consignment, const MachineFacts& machine) {
    const Settings& settings = *consignment.settings;
    std::uint64_t total_bytes = 0;
    for (const Part& part : consignment.parts) {
        total_bytes += part.size_bytes;
    }
    consignment.lading.slot_bytes = settings.bounce_buffer_size.value;
    consignment.lading.pinned_limit = settings.pinned_limit.value;
    consignment.threads =
        choose_threads({consignment.route->engine, consignment.direction, total_bytes, consignment.parts.size(), machine.cores}, settings);
    const bool cufile = consignment.route->engine == EngineKind::cufile;
    // A lone thread overlaps the copy of one unit with the read of the next.
    const std::uint64_t share = total_bytes / (2 * consignment.threads);
    const std::uint64_t least = consignment.threads == 1 ? kLeastOverlapBytes : kLeastUnitBytes;
    const std::uint64_t unit =
        std::min<std::uint64_t>(consignment.lading.slot_bytes, std::max(least, (share + 65535) / 65536 * 65536));
    const CufileDriver* const driver = cufile ? cufile_if_open() : nullptr;
    const std::optional<int> version = driver != nullptr && driver->version != 0 ? std::optional(driver->version) : std::nullopt;
    Shares tasks;
    for (Part& part : consignment.parts) {
        part.units = Units(part.size_bytes, settings.task_size.value, cufile ? settings.task_size.value : unit);
        const CufileUse use{version, part.work.registered_base != nullptr};
        const Plan plan = make_plan(*consignment.route, part.size_bytes, settings, machine.cufile, use);
        tasks = {tasks.count + plan.tasks.count, std::max(tasks.size_bytes, plan.tasks.size_bytes), plan.tasks.last_bytes};
        if (consignment.parts.size() == 1) {
            consignment.plan = plan;
        }
    }
    consignment.lading.spin = total_bytes < kSpinBelowBytes;
    consignment.plan.size_bytes = total_bytes;
    consignment.plan.tasks = tasks;
}

CountersWanted counters_for(const Consignment& consignment) {
    const EvidenceLevel level = consignment.settings->evidence.value;
    const bool forced = level == EvidenceLevel::on || consignment.require != Require::none;
    if (level == EvidenceLevel::off && !forced) {
        return {};
    }
    const bool large = forced || consignment.plan.size_bytes >= kCountersFromBytes;
    const bool cufile = consignment.route->engine == EngineKind::cufile;
    return {(cufile || large) && cufile_if_open() != nullptr, large && cufile, large};
}

// One call has one route and one judgement.
void check_one_requirement(std::span<const FileAndRequest> requests) {
    const Require first = requests.front().request->require;
    for (const auto& [file, request] : requests) {
        if (request->require != first) {
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("the requests of one call need the same require; here are {} and {}: make two calls",
                                    to_text(first), to_text(request->require)));
        }
    }
}

Consignment decide(Direction direction, std::span<const FileAndRequest> requests, const SettingValues& call, bool many) {
    Consignment consignment;
    consignment.start_ns = now_ns();
    consignment.setup_before = SetupCosts::now();
    consignment.direction = direction;
    consignment.many = many;
    OpenFile& file = *requests.front().file;
    const Request& request = *requests.front().request;
    check_one_requirement(requests);
    consignment.require = request.require;
    consignment.settings = file.settings_for(call);
    const PointerOwner owner = add_parts(consignment, requests);
    consignment.lading.owner = owner.on_gpu() ? owner : PointerOwner{};
    consignment.destination = destination_of(owner);
    const MachineFacts& machine = consignment.settings == file.settings ? file.machine() : machine_facts(*consignment.settings);
    consignment.route = route_of(consignment, owner, file, request, machine);
    if (consignment.route->refused) {
        refuse(*consignment.route, *file.name);
    }
    if (consignment.route->engine == EngineKind::cufile) {
        prepare_cufile_or_stage(consignment);
    }
    plan_parts(consignment, machine);
    prepare_files(consignment, file);
    order_after_callers(consignment, requests);
    consignment.counters = counters_for(consignment);
    if (owner.on_gpu()) {
        consignment.gpu_uuid = gpu_device(owner.device).uuid_bytes;
    }
    return consignment;
}

}  // namespace

Consignment consign(Direction direction, std::span<const FileAndRequest> requests, const SettingValues& call, bool many) {
    try {
        return decide(direction, requests, call, many);
    } catch (...) {
        if (requests.front().file->settings->stats.value) {
            count_refused(direction);
        }
        throw;
    }
}

}  // namespace waybill
