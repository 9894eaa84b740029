#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "waybill/receipt.hpp"

namespace waybill {
namespace {

using Lines = std::back_insert_iterator<std::string>;

template <class... Arguments>
void line(Lines out, std::string_view name, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(out, "  {:<10}", name);
    fmt::format_to(out, format, std::forward<Arguments>(arguments)...);
    *out++ = '\n';
}

std::string destination_text(const Receipt& receipt) {
    const Destination& destination = receipt.destination;
    if (destination.device >= 0) {
        return fmt::format("gpu:{} ({}{}{})", destination.device, destination.name,
                           destination.memory == MemoryKind::managed ? ", managed memory" : "",
                           destination.registered ? ", registered" : "");
    }
    return destination.memory == MemoryKind::pinned ? "pinned host memory" : "host memory";
}

std::string first_line(const Receipt& receipt) {
    const bool read = receipt.op == Direction::read;
    std::string text = fmt::format("{} of {} {} {} by {} in {}, {:.2f} GB/s: {}", size_text(receipt.moved_bytes), escape_controls(*receipt.file),
                                   read ? "to" : "from", destination_text(receipt), to_text(receipt.path),
                                   duration_text(receipt.times.total_ns), gb_per_s(receipt), to_text(receipt.judgement));
    if (receipt.is_short) {
        text += fmt::format(" (SHORT: {} asked, {})", size_text(receipt.asked_bytes), receipt.short_reason);
    }
    return text;
}

void add_source(Lines out, const Receipt& receipt) {
    const Source& source = receipt.source;
    if (receipt.op == Direction::read && receipt.moved_bytes != 0) {
        line(out, "source", "page cache {}, device {}{}{}", size_text(source.page_cache_bytes), size_text(source.device_bytes),
             source.unknown_bytes != 0 ? fmt::format(", unknown {}", size_text(source.unknown_bytes)) : "",
             source.estimated ? " (estimated)" : "");
    }
}

void add_tasks(Lines out, const Receipt& receipt) {
    std::string pieces;
    if (receipt.pieces) {
        pieces = fmt::format("; cuFile makes {} of each, {} in all (predicted)", receipt.pieces->count, receipt.pieces_total.value_or(0));
    }
    line(out, "tasks", "{} of {}{}, {} thread{}", receipt.tasks.count, size_text(receipt.tasks.size_bytes), pieces, receipt.threads,
         receipt.threads == 1 ? "" : "s");
}

void add_times(Lines out, const Times& times) {
    line(out, "time", "total {}, open {}; over threads: file calls {}, copy calls {}, waiting {}", duration_text(times.total_ns),
         duration_text(times.open_ns), duration_text(times.thread_read_ns), duration_text(times.thread_copy_ns),
         duration_text(times.thread_wait_ns));
    if (times.cuda_init_ns + times.context_ns + times.pin_ns + times.cufile_open_ns != 0) {
        line(out, "set-up", "CUDA {}, context {}, pinning {} (over threads), cuFile {}", duration_text(times.cuda_init_ns),
             duration_text(times.context_ns), duration_text(times.pin_ns), duration_text(times.cufile_open_ns));
    }
}

void add_evidence(Lines out, const Receipt& receipt) {
    const Evidence& evidence = receipt.evidence;
    line(out, "evidence", "{}", receipt.judgement_text);
    if (const auto& counts = evidence.cufile) {
        line(out, "", "cuFile: n={} nvfs={} p2pdma={} posix={} unaligned={} errors={} bytes={}", counts->n, counts->nvfs,
             counts->p2pdma, counts->posix, counts->unaligned, counts->errors, counts->bytes);
    }
    if (const auto& counts = evidence.nvidia_fs) {
        line(out, "", "nvidia-fs (whole machine): {} operations, {}{}", counts->operations, size_text(counts->bytes),
             counts->live ? "" : " (not known to count)");
    }
    if (const auto& counts = evidence.process_io) {
        line(out, "", "kernel (whole process): {} by calls, {} by storage", size_text(counts->call_bytes),
             size_text(counts->storage_bytes));
    }
    if (const auto& cache = evidence.residency) {
        line(out, "", "before: {} of {} looked at in the page cache ({})", size_text(cache->cached_bytes),
             size_text(cache->range_bytes), cache->source);
    }
    if (evidence.company) {
        line(out, "", "other requests of this process ran in the same window");
    }
    if (!evidence.not_looked_at.empty()) {
        line(out, "", "not looked at: {}", join(evidence.not_looked_at, ", "));
    }
}

void add_settings(Lines out, const Settings& settings) {
    for (const SettingRow& row : setting_rows(settings)) {
        if (row.from != to_text(Origin::built_in)) {
            line(out, "setting", "{}={} (from {})", row.name, row.value, row.from);
        }
    }
}

}  // namespace

double gb_per_s(const Receipt& receipt) noexcept {
    return receipt.times.total_ns == 0 ? 0.0 : static_cast<double>(receipt.moved_bytes) / static_cast<double>(receipt.times.total_ns);
}

std::string to_text(const Receipt& receipt) {
    std::string text;
    const Lines out(text);
    if (receipt.judgement == Judgement::contradicted) {
        fmt::format_to(out, "CONTRADICTED: {}\n", receipt.judgement_text);
    }
    fmt::format_to(out, "{}\n", first_line(receipt));
    std::string_view name = "why";
    for (const Reason& reason : receipt.route->reasons) {
        line(out, name, "{} ({})", reason.text, reason.id);
        name = "";
    }
    add_tasks(out, receipt);
    if (receipt.paths.size() > 1) {
        for (const PathShare& share : receipt.paths) {
            line(out, "path", "{}: {} counted", to_text(share.path), share.count);
        }
    }
    add_source(out, receipt);
    add_times(out, receipt.times);
    add_evidence(out, receipt);
    for (const ByteRange& range : receipt.good) {
        line(out, "good", "bytes {} to {} of the request", range.offset, range.offset + range.bytes);
    }
    add_settings(out, *receipt.settings);
    for (const std::string& note : receipt.notes) {
        line(out, "note", "{}", note);
    }
    if (receipt.sha256) {
        line(out, "sha256", "{}", *receipt.sha256);
    }
    return text;
}

std::string_view to_text(Judgement judgement) noexcept {
    switch (judgement) {
        case Judgement::proved: return "proved";
        case Judgement::consistent: return "consistent";
        case Judgement::contradicted: return "contradicted";
    }
    return "";
}

std::string_view to_text(MemoryKind kind) noexcept {
    switch (kind) {
        case MemoryKind::host: return "host";
        case MemoryKind::pinned: return "pinned";
        case MemoryKind::device: return "device";
        case MemoryKind::managed: return "managed";
    }
    return "";
}

}  // namespace waybill
