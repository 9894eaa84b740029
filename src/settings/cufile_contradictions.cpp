#include "settings/cufile_contradictions.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "settings/cufile_value_check.hpp"

namespace waybill {
namespace {

using Kind = CufileProblem::Kind;
constexpr int kSwitchesFrom = 1160;  // block.* and fs.* switches for P2PDMA

const CufileValue* find(const CufileReading& reading, std::string_view path) {
    const auto found = std::find_if(reading.values.begin(), reading.values.end(), [&](const CufileValue& value) { return value.key->path == path; });
    return found == reading.values.end() ? nullptr : &*found;
}

bool is_set(const CufileValue* value) { return value != nullptr && value->origin != CufileOrigin::built_in; }
bool is_on(const CufileValue* value) { return value != nullptr && value->value == "true"; }

std::int64_t number_of(const CufileValue* value) {
    std::int64_t number = 0;
    if (value != nullptr) {
        std::from_chars(value->value.data(), value->value.data() + value->value.size(), number);
    }
    return number;
}

// "execution.max_io_threads 0 (/etc/cufile.json:3:5)"
std::string told(const CufileValue& value) { return fmt::format("{} {} ({})", value.key->path, value.value, value.where); }

class Contradictions {
public:
    Contradictions(const CufileReading& reading, int version) : reading_(reading), version_(version) {}

    std::vector<CufileProblem> all() {
        compatibility();
        threads();
        buffers();
        p2pdma();
        return std::move(found_);
    }

private:
    void compatibility() {
        const CufileValue* allowed = find(reading_, "properties.allow_compat_mode");
        const CufileValue* forced = find(reading_, "properties.force_compat_mode");
        if (is_on(forced) && !is_on(allowed)) {
            add(Kind::contradiction, fmt::format("{} and {}: the second asks for what the first forbids, and staging is what happens", told(*allowed),
                                                 told(*forced)));
        }
    }

    void threads() {
        const CufileValue* parallel = find(reading_, "execution.parallel_io");
        const CufileValue* count = find(reading_, "execution.max_io_threads");
        const CufileValue* most = find(reading_, "execution.max_request_parallelism");
        if (is_on(parallel) && number_of(count) == 0) {
            add(Kind::contradiction, fmt::format("{} has no effect with {}", told(*parallel), told(*count)));
        } else if (is_on(parallel) && number_of(most) == 0) {
            // Seen with 1.15 to 1.20 over a stand-in of the driver (docs/measurements/2026-12-02-cufile-pieces.md).
            add(Kind::ends_read, fmt::format("with {}, {} and {} cuFileRead divides by zero, which ends the process; set "
                                             "execution.max_request_parallelism to at least 1",
                                             told(*parallel), told(*count), told(*most)));
        }
    }

    void buffers() {
        const CufileValue* each = find(reading_, "properties.per_buffer_cache_size_kb");
        const CufileValue* largest = find(reading_, "properties.max_direct_io_size_kb");
        if (number_of(each) > number_of(largest)) {
            add(Kind::refused, fmt::format("{} is larger than {}; at most that is accepted", told(*each), told(*largest)));
        }
        posix_pool();
        const CufileValue* slabs = find(reading_, "properties.gpu_bounce_buffer_slab_config.slab_size_kb");
        for (const char* old : {"properties.max_direct_io_size_kb", "properties.max_device_cache_size_kb", "properties.per_buffer_cache_size_kb"}) {
            if (is_set(slabs) && is_set(find(reading_, old))) {
                add(Kind::contradiction, fmt::format("{} is passed over beside {}", told(*find(reading_, old)), slabs->key->path));
            }
        }
    }

    // Lists of unequal length are refused; fewer sizes than built-in counts end the process (seen with 1.15 and 1.20).
    void posix_pool() {
        const CufileValue* sizes = find(reading_, "properties.posix_pool_slab_size_kb");
        const CufileValue* counts = find(reading_, "properties.posix_pool_slab_count");
        const std::size_t size_entries = list_elements(sizes->value).size();
        const std::size_t count_entries = list_elements(counts->value).size();
        if (size_entries != count_entries) {
            add(is_set(counts) || size_entries > count_entries ? Kind::refused : Kind::ends_process,
                fmt::format("{} and {} have not as many entries", told(*sizes), told(*counts)));
        }
    }

    void p2pdma() {
        const CufileValue* general = find(reading_, "properties.use_pci_p2pdma");
        std::vector<const CufileValue*> switches;
        for (const CufileValue& value : reading_.values) {
            if (value.key->path.ends_with(".use_pci_p2pdma") && &value != general && is_on(&value)) {
                switches.push_back(&value);
            }
        }
        if (!is_on(general)) {
            for (const CufileValue* value : switches) {
                add(Kind::contradiction, fmt::format("{} has no effect with {}", told(*value), told(*general)));
            }
            return;
        }
        if (switches.empty() && version_ >= kSwitchesFrom) {
            add(Kind::contradiction, fmt::format("{} has no effect without a block.* or fs.* switch of that name (block.nvme.use_pci_p2pdma)",
                                                 told(*general)));
        }
        if (const CufileValue* forced = find(reading_, "properties.force_compat_mode"); is_on(forced)) {
            add(Kind::contradiction, fmt::format("{} has no effect with {}", told(*general), told(*forced)));
        }
    }

    void add(Kind kind, std::string text) { found_.push_back({kind, std::move(text)}); }

    const CufileReading& reading_;
    int version_;
    std::vector<CufileProblem> found_;
};

}  // namespace

std::vector<CufileProblem> cufile_contradictions(const CufileReading& reading, int version) {
    return Contradictions(reading, version).all();
}

}  // namespace waybill
