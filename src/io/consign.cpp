#include "io/consign.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "engine/file_calls.hpp"
#include "gpu/devices.hpp"
#include "io/checks.hpp"
#include "io/cufile_use.hpp"
#include "io/order.hpp"
#include "io/routing.hpp"
#include "io/sizing.hpp"
#include "stats/writer.hpp"

namespace waybill {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Counters of the whole process are read at the edges of requests from this size on, where their cost is nothing.
constexpr std::uint64_t kCountersFromBytes = 64 * kMiB;
constexpr std::size_t kLeastDirectAlign = 4096;

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

bool starts_a_file(std::span<const FileAndRequest> requests, std::size_t k) noexcept {
    return k == 0 || requests[k].file != requests[k - 1].file;
}

// Requests of one file mostly follow one another: what they have in common is asked for once.
void add_file(Consignment& consignment, OpenFile& file) {
    consignment.files.push_back({file.descriptors(), file.name, {}});
    consignment.open_ns += file.take_open_ns();
}

// Parts, owners and the kind of memory of all requests.
PointerOwner add_parts(Consignment& consignment, std::span<const FileAndRequest> requests) {
    PointerOwner owner;
    bool known = false;
    std::size_t files = 0;
    for (std::size_t k = 0; k < requests.size(); ++k) {
        files += starts_a_file(requests, k) ? 1 : 0;
    }
    consignment.files.reserve(files);
    consignment.parts.reserve(requests.size());
    OwnerFinder owners;
    FileExtent extent;
    for (std::size_t k = 0; k < requests.size(); ++k) {
        const auto& [file, request] = requests[k];
        if (starts_a_file(requests, k)) {
            add_file(consignment, *file);
        }
        Part& part = consignment.parts.emplace_back();
        part.file = &consignment.files.back();
        const int fd = part.file->descriptors->buffered();
        if (consignment.direction == Direction::read && starts_a_file(requests, k)) {
            extent = file_extent(fd, *file->name);
        }
        const RequestRange range = check_range(consignment.direction, *file, fd, extent, *request);
        part.asked_bytes = range.asked_bytes;
        part.size_bytes = range.size_bytes;
        part.is_sparse = range.is_sparse;
        part.work.direction = consignment.direction;
        part.work.file_offset = request->file_offset;
        part.work.memory = static_cast<std::byte*>(request->target.pointer) + request->target_offset;
        if (request->target.pointer != nullptr) {
            const PointerOwner found = owners.find(request->target.pointer);
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
    }
    return owner;
}

// What O_DIRECT asks of offsets and memory; a slot has room for no more than kMostDirectAlign at its ends (route/ sees to that).
std::size_t direct_align_of(OpenFile& file) {
    const FileFacts& facts = file.facts();
    return std::max<std::size_t>(kLeastDirectAlign, std::max(facts.direct_offset_align.value, facts.direct_memory_align.value));
}

bool goes_direct(const Consignment& consignment) noexcept {
    return consignment.direction == Direction::read ? consignment.route->page_cache != PageCacheUse::use
                                                    : consignment.route->direct_write;
}

// The engine's side of a file. `bulk`: some of its requests are large.
void prepare_file(PartFile& part_file, OpenFile& file, bool bulk, const Consignment& consignment) {
    const bool direct = goes_direct(consignment);
    EngineFile& engine = part_file.engine;
    engine.buffered = part_file.descriptors->buffered();
    engine.direct_align = direct ? direct_align_of(file) : kLeastDirectAlign;
    if (direct && engine.direct_align <= kMostDirectAlign) {
        engine.direct = part_file.descriptors->direct();
    }
    if (consignment.direction == Direction::read && file.may_read && (direct || bulk)) {
        engine.random = part_file.descriptors->random();
    }
}

void prepare_part(Part& part, const Consignment& consignment) {
    const bool read = consignment.direction == Direction::read;
    part.work.file = part.file->engine;
    part.work.page_cache = consignment.route->page_cache;
    part.work.direct_write = consignment.route->direct_write;
    if (read && (!part.likely_cached || part.work.page_cache == PageCacheUse::bypass)) {
        part.work.picture = CachePicture::take(part.work.file.buffered, part.work.file_offset, part.size_bytes);
    }
}

void prepare_parts(Consignment& consignment, std::span<const FileAndRequest> requests) {
    std::vector<Part>& parts = consignment.parts;
    for (std::size_t k = 0; k < parts.size();) {
        PartFile* const file = parts[k].file;
        std::size_t end = k;
        bool bulk = false;
        for (; end < parts.size() && parts[end].file == file; ++end) {
            bulk = bulk || parts[end].size_bytes >= kBulkBytes;
        }
        prepare_file(*file, *requests[k].file, bulk, consignment);
        for (; k < end; ++k) {
            prepare_part(parts[k], consignment);
        }
    }
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
    consignment.route = route_call(consignment, owner, requests, machine);
    if (consignment.route->engine == EngineKind::cufile) {
        prepare_cufile_or_stage(consignment);
    }
    plan_parts(consignment, machine);
    prepare_parts(consignment, requests);
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
