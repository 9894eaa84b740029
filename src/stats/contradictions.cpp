#include "stats/contradictions.hpp"

#include <fmt/format.h>

namespace waybill {
namespace {

void compare(std::vector<std::string>& found, const GpuStats& gpu, Direction direction) {
    const CufileStats& cufile = gpu.cufile[static_cast<std::size_t>(direction)];
    const CufileCounters& counters = cufile.counters;
    if (!gpu.looked || counters.n == 0) {
        return;
    }
    const auto path = [&](Path name, std::uint64_t our_bytes, std::uint64_t count) {
        if (our_bytes != 0 && count == 0) {
            found.push_back(fmt::format("gpu:{} {}: Waybill moved {} bytes by {}, and cuFile counted {} operations, none of them "
                                        "on that path (nvfs={} p2pdma={} posix={})",
                                        gpu.device, to_text(direction), our_bytes, to_text(name), counters.n, counters.nvfs,
                                        counters.p2pdma, counters.posix));
        }
    };
    path(Path::nvidia_fs, cufile.our_nvfs_bytes, counters.nvfs);
    path(Path::p2pdma, cufile.our_p2pdma_bytes, counters.p2pdma);
    path(Path::cufile_posix, cufile.our_posix_bytes, counters.posix);
    const std::uint64_t our_bytes = cufile.our_nvfs_bytes + cufile.our_p2pdma_bytes + cufile.our_posix_bytes + cufile.our_other_bytes;
    if (our_bytes > counters.bytes) {
        found.push_back(fmt::format("gpu:{} {}: Waybill moved {} bytes through cuFile, which counted only {}", gpu.device,
                                    to_text(direction), our_bytes, counters.bytes));
    }
}

}  // namespace

std::vector<std::string> contradictions(const ProcessStats& stats) {
    std::vector<std::string> found;
    for (const PathStats& path : stats.paths) {
        if (path.contradicted != 0) {
            found.push_back(fmt::format("{} {}: {} of {} receipts by {} were contradicted by a counter",
                                        path.device < 0 ? std::string("host") : fmt::format("gpu:{}", path.device),
                                        to_text(path.direction), path.contradicted, path.requests, to_text(path.path)));
        }
    }
    for (const GpuStats& gpu : stats.gpus) {
        compare(found, gpu, Direction::read);
        compare(found, gpu, Direction::write);
    }
    return found;
}

std::string familiar_line(const ProcessStats& stats, const GpuStats& gpu, Direction direction) {
    std::uint64_t staged = 0;
    for (const PathStats& path : stats.paths) {
        if (path.device == gpu.device && path.direction == direction && path.path == Path::staged) {
            staged += path.tasks;
        }
    }
    const CufileCounters& counters = gpu.cufile[static_cast<std::size_t>(direction)].counters;
    return fmt::format("{}: n={} nvfs={} p2pdma={} posix={} staged={}", direction == Direction::read ? "Read" : "Write",
                       counters.n + staged, counters.nvfs, counters.p2pdma, counters.posix, staged);
}

}  // namespace waybill
