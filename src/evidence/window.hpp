// Window: the counters from before a request's first byte to after its last, and who else could have counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/root.hpp"
#include "evidence/cufile_counters.hpp"
#include "evidence/nvidia_fs_stats.hpp"
#include "evidence/process_io.hpp"
#include "waybill/receipt.hpp"

namespace waybill {

// Which counters are worth reading for a request.
struct CountersWanted {
    bool cufile = false;
    bool nvidia_fs = false;
    bool process_io = false;
};

// Opened before the first byte and read once after the last. Requests of this process that overlap it are company.
// One thread at a time.
class EvidenceWindow {
public:
    // `gpu_uuid`: 16 raw bytes, for cuFile's counters; may be empty.
    EvidenceWindow(CountersWanted wanted, std::string gpu_uuid, const MachineRoot& root);
    EvidenceWindow(EvidenceWindow&&) = delete;
    ~EvidenceWindow();

    // Reads the counters again and gives the differences in this direction.
    [[nodiscard]] Evidence close(Direction direction);

    // cuFile's counters as the close found them, and when; absent when they were not looked at.
    struct CufileLook {
        CufileCounts counts;
        std::uint64_t at_ns = 0;
    };
    [[nodiscard]] const std::optional<CufileLook>& cufile_after() const noexcept { return cufile_after_; }

private:
    CountersWanted wanted_;
    std::string gpu_uuid_;
    const MachineRoot& root_;
    std::optional<CufileCounts> cufile_before_;
    std::optional<NvidiaFsCounts> nvidia_fs_before_;
    std::optional<ProcessIoCounts> process_io_before_;
    std::optional<CufileLook> cufile_after_;
    std::uint64_t starts_at_open_ = 0;
    bool company_at_open_ = false;
    bool open_ = true;
};

}  // namespace waybill
