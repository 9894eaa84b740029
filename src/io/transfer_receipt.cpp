#include "io/transfer_receipt.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "gpu/cuda.hpp"
#include "receipt/judge.hpp"
#include "route/requirement.hpp"

namespace waybill {
namespace {

void add_path(Receipt& receipt, const Consignment& consignment, const Tally& tally, const Evidence& evidence) {
    const Route& route = *consignment.route;
    receipt.engine = route.engine;
    PathJudgement judged = judge(route.engine, route.expected_path, tally.sum.moved_bytes, tally.sum.calls, evidence);
    receipt.path = judged.path;
    receipt.paths = std::move(judged.paths);
    receipt.judgement = judged.judgement;
    receipt.judgement_text = std::move(judged.text);
    receipt.direct_descriptor =
        route.engine == EngineKind::cufile ? route.cufile_direct_descriptor : tally.sum.direct_bytes != 0;
}

void add_times(Receipt& receipt, const Consignment& consignment, const Tally& tally) {
    const SetupCosts before = consignment.setup_before;
    const SetupCosts now = SetupCosts::now();
    Times& times = receipt.times;
    times.total_ns = now_ns() - consignment.start_ns;
    times.open_ns = consignment.open_ns;
    times.thread_read_ns = tally.times.read_ns;
    times.thread_copy_ns = tally.times.copy_ns;
    times.thread_wait_ns = tally.times.wait_ns;
    if (consignment.lading.owner.on_gpu()) {
        // Mostly started before the first request, for its memory: whichever receipt is first tells it, once.
        times.cuda_init_ns = take_cuda_init_ns();
        times.context_ns = take_context_ns();
    }
    times.pin_ns = now.pin_ns - before.pin_ns;
    times.cufile_open_ns = now.cufile_open_ns - before.cufile_open_ns;
    if (now.pin_refusals != before.pin_refusals) {
        receipt.notes.emplace_back("memory could not be pinned as wanted; the bytes went through less of it");
    }
}

void add_results(Receipt& receipt, const Consignment& consignment, const Tally& tally) {
    receipt.results.reserve(consignment.parts.size());
    for (const Part& part : consignment.parts) {
        const std::uint64_t moved = good_prefix(part, tally);
        receipt.results.push_back({part.file->name, part.work.file_offset, part.asked_bytes, moved, moved < part.asked_bytes});
    }
}

}  // namespace

Receipt make_receipt(const Consignment& consignment, const Tally& tally, const Evidence& evidence) {
    Receipt receipt;
    const Part& first = consignment.parts.front();
    receipt.file = first.file->name;
    receipt.op = consignment.direction;
    receipt.file_offset = first.work.file_offset;
    for (const Part& part : consignment.parts) {
        receipt.asked_bytes += part.asked_bytes;
    }
    receipt.moved_bytes = tally.sum.moved_bytes;
    receipt.is_short = receipt.moved_bytes < receipt.asked_bytes;
    if (receipt.is_short) {
        receipt.short_reason = "end-of-file";
    }
    receipt.destination = consignment.destination;
    receipt.source = {tally.sum.cached_bytes, tally.sum.device_bytes, tally.sum.unknown_bytes, tally.sum.estimated};
    receipt.tasks = consignment.plan.tasks;
    receipt.pieces = consignment.plan.pieces_per_task;
    receipt.pieces_total = consignment.plan.pieces_total;
    receipt.threads = tally.threads;
    receipt.route = consignment.route;
    receipt.settings = consignment.settings;
    receipt.evidence = evidence;
    receipt.evidence.residency = consignment.residency;
    receipt.notes = consignment.notes;
    const bool sparse = std::any_of(consignment.parts.begin(), consignment.parts.end(), [](const Part& part) { return part.is_sparse; });
    if (sparse && receipt.source.device_bytes != 0) {
        receipt.source.estimated = true;
        receipt.notes.emplace_back("the file takes less storage than its size (holes, or compression), so no device held all of these bytes");
    }
    if (tally.sum.direct_refused) {
        receipt.notes.emplace_back("the file system refused O_DIRECT for some of the bytes (EINVAL), which went through the page cache");
    }
    add_path(receipt, consignment, tally, evidence);
    add_times(receipt, consignment, tally);
    if (consignment.many) {
        add_results(receipt, consignment, tally);
    }
    return receipt;
}

void add_error(Receipt& receipt, const Error& error, const Consignment& consignment, const Tally& tally) {
    receipt.good = good_ranges(consignment.parts, tally);
    receipt.moved_bytes = !receipt.good.empty() && receipt.good.front().offset == 0 ? receipt.good.front().bytes : 0;
    receipt.is_short = receipt.moved_bytes < receipt.asked_bytes;
    receipt.short_reason = receipt.is_short ? to_text(error.code()) : "";
}

std::optional<Error> requirement_error(const Consignment& consignment, const Receipt& receipt) {
    if (consignment.require == Require::none || receipt.moved_bytes == 0) {
        return std::nullopt;
    }
    const std::string wanted = "require=" + std::string(to_text(consignment.require));
    if (receipt.judgement == Judgement::contradicted) {
        return Error(ErrorCode::contradicted, wanted + ": a counter contradicts the path: " + receipt.judgement_text);
    }
    if (!satisfies(receipt.path, consignment.require)) {
        return Error(ErrorCode::route_not_taken, wanted + " was not met: the bytes went by " + std::string(to_text(receipt.path)) +
                                                     " (" + receipt.judgement_text + ")");
    }
    if (receipt.judgement != Judgement::proved &&
        consignment.settings->require_evidence.value == RequiredJudgement::proved) {
        return Error(ErrorCode::no_counters, wanted + " is not proved: " + receipt.judgement_text +
                                                 "; set require_evidence=consistent to accept that");
    }
    return std::nullopt;
}

}  // namespace waybill
