// Conditions: the one ordered list of what must hold for cuFile to serve a file, and for a direct path to exist.
//
// choose_route stops at the first that fails; `waybill check` lists them all. To add one, see docs/add-a-rule.md. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "waybill/facts.hpp"
#include "waybill/route.hpp"

namespace waybill {

// What a condition is needed for; several may be set.
struct NeededFor {
    bool cufile = false;     // cuFile can serve the file, in its compatibility mode too
    bool nvidia_fs = false;  // a direct path by nvidia-fs
    bool p2pdma = false;     // a direct path by PCI P2PDMA
};

enum class Holds { yes, no, unknown };

struct Answer {
    Holds holds = Holds::yes;
    std::string text;    // when it does not hold: one sentence with what was seen and where
    std::string source;  // the file or call that told it; empty: the places that check/advice.cpp names
};

// What a condition is asked about. `gpu` is null where no GPU was named: what is said of one then holds.
struct Subject {
    const FileFacts& file;
    const MachineFacts& machine;
    const GpuFacts* gpu = nullptr;
};

struct Condition {
    std::string_view id;  // of the finding when it fails
    NeededFor needed;
    // cuFile tests it by itself when a file is registered, or the loader when the library is loaded: on the running machine they
    // have the last word.
    bool library_decides = false;
    // An unknown answer counts as no. Where it counts as yes, the fact is one that only root may read, or that the
    // library tests too.
    bool unknown_fails = true;
    // A driver on a machine where it fails may hang or crash when it is opened: a child process tries it first.
    bool makes_driver_suspicious = false;
    Answer (*ask)(const Subject& subject) = nullptr;
};

[[nodiscard]] std::span<const Condition> conditions();

struct FailedCondition {
    const Condition* condition = nullptr;
    Reason reason;
};

// The first condition that fails among those that `wanted` names.
[[nodiscard]] std::optional<FailedCondition> first_failing(NeededFor wanted, const FileFacts& file, const MachineFacts& machine,
                                                           const GpuFacts* gpu = nullptr);

// The direct path that exists for this file, or the first condition that fails.
struct DirectPath {
    std::optional<Path> path;
    std::optional<Reason> first_failing;
};
[[nodiscard]] DirectPath find_direct_path(const FileFacts& file, const MachineFacts& machine, const GpuFacts* gpu = nullptr);

}  // namespace waybill
