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

// What requests of one file have in common. They mostly follow one another: it is asked for once.
struct AskedFile {
    AskedFile(OpenFile& open, Direction direction) : file(&open), descriptors(open.descriptors()), open_ns(open.take_open_ns()) {
        if (direction == Direction::read) {
            extent = file_extent(descriptors->buffered(), *open.name);
        }
    }
    OpenFile* file;
    std::shared_ptr<Descriptors> descriptors;
    std::uint64_t open_ns;
    FileExtent extent;
};

// Parts, owners and the kind of memory of all requests.
PointerOwner add_parts(Consignment& consignment, std::span<const FileAndRequest> requests) {
    PointerOwner owner;
    bool known = false;
    consignment.parts.reserve(requests.size());
    OwnerFinder owners;
    std::optional<AskedFile> asked;
    for (const auto& [file, request] : requests) {
        if (!asked || asked->file != file.get()) {
            asked.emplace(*file, consignment.direction);
            consignment.open_ns += asked->open_ns;
        }
        Part part;
        part.descriptors = asked->descriptors;
        part.name = file->name;
        const RequestRange range =
            check_range(consignment.direction, *file, part.descriptors->buffered(), asked->extent, *request);
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
        consignment.parts.push_back(std::move(part));
    }
    return owner;
}

// What O_DIRECT asks of offsets and memory; a slot has room for no more than kMostDirectAlign at its ends (route/ sees to that).
std::size_t direct_align_of(OpenFile& file) {
    const FileFacts& facts = file.facts();
    return std::max<std::size_t>(kLeastDirectAlign, std::max(facts.direct_offset_align.value, facts.direct_memory_align.value));
}

void prepare_file(Part& part, OpenFile& file, const Consignment& consignment) {
    const bool read = consignment.direction == Direction::read;
    const PageCacheUse use = consignment.route->page_cache;
    part.work.page_cache = use;
    part.work.direct_write = consignment.route->direct_write;
    const bool direct = read ? use != PageCacheUse::use : part.work.direct_write;
    EngineFile& engine_file = part.work.file;
    engine_file.buffered = part.descriptors->buffered();
    engine_file.direct_align = direct ? direct_align_of(file) : kLeastDirectAlign;
    if (direct && engine_file.direct_align <= kMostDirectAlign) {
        engine_file.direct = part.descriptors->direct();
    }
    if (read && file.may_read && (direct || part.size_bytes >= kBulkBytes)) {
        engine_file.random = part.descriptors->random();
    }
    if (read && (!part.likely_cached || use == PageCacheUse::bypass)) {
        part.work.picture = CachePicture::take(engine_file.buffered, part.work.file_offset, part.size_bytes);
    }
}

void prepare_files(Consignment& consignment, std::span<const FileAndRequest> requests) {
    for (std::size_t k = 0; k < requests.size(); ++k) {
        prepare_file(consignment.parts[k], *requests[k].file, consignment);
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
    prepare_files(consignment, requests);
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
