// A hostile segment of statistics: its process may write anything there. The input fills a whole segment again and again, so
// that all words come from it; no form of the reading may throw anything but Error, read out of bounds, or hang.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "stats/contradictions.hpp"
#include "stats/openmetrics.hpp"
#include "stats/reader.hpp"
#include "stats/stats_json.hpp"
#include "stats/text.hpp"
#include "waybill/error.hpp"

namespace {

void read_in_every_form(std::span<const std::byte> bytes) {
    try {
        waybill::ProcessStats stats = waybill::read_stats(bytes, 5'000'000'000);
        waybill::add_rates(stats, stats);
        stats.command = waybill::printable(std::string(reinterpret_cast<const char*>(bytes.data()), 16));
        (void)waybill::to_text(stats);
        (void)waybill::stats_json(std::array{stats}, 0, {}, -1);
        (void)waybill::openmetrics(std::array{stats});
    } catch (const waybill::Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const bool right_head = (input[0] & 1) != 0;
    const std::size_t length = (input[0] & 2) != 0 ? sizeof(waybill::StatsSegment) : std::min(size, sizeof(waybill::StatsSegment)) / 8 * 8;
    static auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, sizeof(waybill::StatsSegment)));
    for (std::size_t at = 0; at < length; at += size - 1) {
        std::memcpy(memory + at, input + 1, std::min(size - 1, length - at));
    }
    if (right_head && length == sizeof(waybill::StatsSegment)) {
        const std::uint64_t head[] = {waybill::kStatsMagic, waybill::kStatsVersion, sizeof(waybill::StatsSegment)};
        std::memcpy(memory, head, sizeof head);
    }
    read_in_every_form({memory, length});
    return 0;
}
