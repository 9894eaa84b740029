// check: what stands between one file and one GPU, told without reading a byte of the file.
//
// Looks at /proc, /sys, /dev, /run and /etc, and loads no GPU library. Pure values come back; share them freely. Any number
// of threads may call it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "waybill/facts.hpp"
#include "waybill/finding.hpp"
#include "waybill/route.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// Whether something can be had; if not, the first condition that fails.
struct Verdict {
    bool possible = false;
    std::optional<Path> path;             // of a direct path that exists
    std::optional<Reason> first_failing;
};

// One thing that --probe tried, beside what was foretold.
struct ProbeStep {
    std::string what;      // driver-open, handle-registration, staged, cufile, host
    bool done = false;
    std::string result;    // "cufile-posix, n=1 nvfs=0 p2pdma=0 posix=1", or how it failed
    std::string foretold;  // opened, registered, a path, refused, crashed, hung, unknown, or an error's code
    bool agrees = true;
};

// The answer of check().
struct CheckReport {
    std::string file;      // as it was asked for
    int device = 0;        // CUDA's ordinal
    Verdict direct;
    Verdict cufile;        // can cuFile serve this file at all, in its compatibility mode too
    Route route;           // that a read would take
    std::vector<Finding> findings;  // in the order in which to fix them
    std::vector<ProbeStep> probe;   // empty unless asked for
    FileFacts file_facts;
    MachineFacts machine;
    GpuFacts gpu;
    SurroundingFacts surroundings;
};

// The verdicts and findings of one file. `path`: a file or a folder. `device`: CUDA's number, a UUID or a PCI address. `root`: a
// folder or an archive that holds another machine's files (docs/machines.md), or "/"; there the path is looked up in that
// machine's own mount table. Throws Error file_not_found, permission_denied, not_regular_file (neither a file nor a folder),
// bad_setting, invalid_argument, no_gpu.
[[nodiscard]] CheckReport check(const std::filesystem::path& path, const std::string& device = "0", const SettingLayers& layers = {},
                                const std::string& root = "/");

// Writes all that a check of `path` looks at into a compressed tar, with host and user names, addresses, UUIDs and serials
// taken out: a root for check(), to attach to a report or to make a test of. A name that ends in / is made a plain folder.
// Throws as check(), and io_error.
void save_machine(const std::string& archive, const std::filesystem::path& path, const std::string& device = "0",
                  const SettingLayers& layers = {});

// One line of the table of mounts: would a read of a file there go direct, and if not, what comes first.
struct MountReport {
    MountFacts mount;
    Verdict direct;
    Verdict cufile;
};
// Every mounted file system that files are kept on (no /proc, /sys and the like). Throws as check().
[[nodiscard]] std::vector<MountReport> check_mounts(const std::string& device = "0", const SettingLayers& layers = {}, const std::string& root = "/");

// For people: the first line answers. For machines: schema "waybill.check/1" and "waybill.mounts/1".
[[nodiscard]] std::string to_text(const CheckReport& report);
[[nodiscard]] std::string to_json(const CheckReport& report, int indent = -1);
[[nodiscard]] std::string to_text(const std::vector<MountReport>& mounts);
[[nodiscard]] std::string to_json(const std::vector<MountReport>& mounts, int indent = -1);

}  // namespace waybill
