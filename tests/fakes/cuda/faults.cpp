#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake.hpp"

namespace fake {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool is_set(const char* variable) { return number_of(variable, 0) != 0; }

namespace {

struct Fault {
    Status code = 0;
    std::uint64_t after = 0;  // calls that still go well
    std::uint64_t times = ~std::uint64_t{0};  // calls that fail then
};

// FAKE_CUDA_FAIL=cuMemcpyHtoDAsync_v2:700:3,cuStreamCreate:2,cuEventRecord:700:0:1
struct Faults {
    std::mutex mutex;
    std::map<std::string, Fault> all;
    Faults() {
        const char* text = std::getenv("FAKE_CUDA_FAIL");
        std::string rest = text != nullptr ? text : "";
        while (!rest.empty()) {
            const auto comma = rest.find(',');
            const std::string one = rest.substr(0, comma);
            rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
            const auto colon = one.find(':');
            if (colon == std::string::npos) {
                continue;
            }
            Fault fault;
            char* end = nullptr;
            fault.code = static_cast<Status>(std::strtol(one.c_str() + colon + 1, &end, 10));
            fault.after = *end == ':' ? std::strtoull(end + 1, &end, 10) : 0;
            if (*end == ':') {
                fault.times = std::strtoull(end + 1, nullptr, 10);
            }
            all[one.substr(0, colon)] = fault;
        }
    }
};

}  // namespace

Status fault_of(const char* call) {
    static Faults& faults = *new Faults();
    if (faults.all.empty()) {
        return kSuccess;
    }
    const std::lock_guard lock(faults.mutex);
    const auto found = faults.all.find(call);
    if (found == faults.all.end()) {
        return kSuccess;
    }
    if (found->second.after != 0) {
        --found->second.after;
        return kSuccess;
    }
    if (found->second.times == 0) {
        return kSuccess;
    }
    --found->second.times;
    return found->second.code;
}

Report& report() {
    static Report& counts = *new Report();
    return counts;
}

namespace {

// FAKE_CUDA_REPORT=1: what is left at the end of the process, for tests on leaks.
struct AtExit {
    ~AtExit() {
        if (!is_set("FAKE_CUDA_REPORT")) {
            return;
        }
        Memory& all = memory();
        const std::lock_guard lock(all.mutex);
        std::uint64_t device = 0;
        std::uint64_t pinned = 0;
        for (const auto& [address, allocation] : all.all) {
            (allocation.kind == Kind::device || allocation.kind == Kind::managed ? device : pinned) += 1;
        }
        std::fprintf(stderr, "fake-cuda: device_allocations=%llu pinned_allocations=%llu pinned_bytes=%llu violations=%llu copies=%llu\n",
                     static_cast<unsigned long long>(device), static_cast<unsigned long long>(pinned),
                     static_cast<unsigned long long>(all.pinned_bytes),
                     static_cast<unsigned long long>(report().violations.load()),
                     static_cast<unsigned long long>(report().copies.load()));
    }
} at_exit;

}  // namespace

}  // namespace fake
