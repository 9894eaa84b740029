#include "bench/report.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace waybill {
namespace {

std::string threads_text(const BenchRow& row) {
    return row.threads_asked ? std::to_string(*row.threads_asked) : fmt::format("{} (auto)", row.threads);
}

std::string row_text(const BenchRow& row, bool compared) {
    const std::string head =
        fmt::format("{:<8}{:<6}{:>9}", row.path, row.hot ? "hot" : "cold", size_text(row.request_bytes));
    if (!row.why_not.empty()) {
        return fmt::format("{}  not measured: {}\n", head, row.why_not);
    }
    const std::string share = row.ceiling.empty() ? "-" : fmt::format("{:.0f} % of {}", 100.0 * row.share, row.ceiling);
    std::string text = fmt::format("{}{:>10}{:>9.3f}  {:<20}{:>10}{:>8.3f}  {:<14}", head, threads_text(row), row.gb_per_s, share,
                                   duration_text(row.median_ns), row.cpu_seconds_per_gib, to_text(row.took));
    text += compared ? fmt::format("{:<12}{}", source_text(row), row.against ? fmt::format("{:.2f} x", *row.against) : "-")
                     : source_text(row);
    return text + "\n";
}

}  // namespace

std::string source_text(const BenchRow& row) {
    const Source& source = row.source;
    if (source.unknown_bytes > source.page_cache_bytes + source.device_bytes) {
        return "not known";
    }
    if (source.page_cache_bytes != 0 && source.device_bytes != 0) {
        const std::uint64_t known = source.page_cache_bytes + source.device_bytes;
        return fmt::format("{} % cached", 100 * source.page_cache_bytes / known);
    }
    return source.device_bytes != 0 ? "drive" : "page cache";
}

std::string to_text(const BenchReport& report) {
    std::string text = fmt::format("{}, {}, {} cores{}\n", report.file, size_text(report.size_bytes), report.cores,
                                   report.gpu.empty() ? "" : ", " + report.gpu);
    text += "at most, in this run:\n";
    for (const Ceiling& ceiling : report.ceilings) {
        text += ceiling.gb_per_s > 0.0 ? fmt::format("  {:<12}{:>8.3f} GB/s  {}\n", ceiling.id, ceiling.gb_per_s, ceiling.how)
                                       : fmt::format("  {:<12}{}\n", ceiling.id, ceiling.how);
    }
    bool compared = false;
    for (const BenchRow& row : report.rows) {
        compared = compared || row.against;
    }
    text += fmt::format("\n{:<8}{:<6}{:>9}{:>10}{:>9}  {:<20}{:>10}{:>8}  {:<14}{}{}\n", "asked", "file", "request", "threads", "GB/s",
                        "share", "median", "s/GiB", "took", compared ? "bytes from  " : "bytes from", compared ? "before" : "");
    for (const BenchRow& row : report.rows) {
        text += row_text(row, compared);
    }
    text += "Requests follow one another, all over the file. s/GiB: processor seconds of the whole process for each GiB. What fits in the\n"
            "processor's caches may be faster than memory.\n";
    for (const std::string& note : report.notes) {
        text += "note: " + note + "\n";
    }
    return text;
}

}  // namespace waybill
