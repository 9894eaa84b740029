#include "check/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "check/advice.hpp"
#include "route/conditions.hpp"

namespace waybill {
namespace {

// P2PDMA is the other way: where nobody asked for it, what it lacks is worth knowing and no more.
bool is_other_way(const Condition& condition, const MachineFacts& machine) {
    const NeededFor& needed = condition.needed;
    return needed.p2pdma && !needed.nvidia_fs && !needed.cufile && !machine.cufile.config.use_pci_p2pdma;
}

// Does anything depend on this condition? What the unused of two direct ways lacks is no matter, nor is the other way where there
// is no GPU.
bool matters(const Condition& condition, const Verdict& direct, const CheckSubject& subject) {
    if (subject.gpu.present.absent() && is_other_way(condition, subject.machine)) {
        return false;
    }
    if (condition.needed.cufile || !direct.possible) {
        return true;
    }
    return direct.path == Path::nvidia_fs ? condition.needed.nvidia_fs : condition.needed.p2pdma;
}

Severity severity_of(const Condition& condition, const Answer& answer, const MachineFacts& machine) {
    if ((answer.holds == Holds::unknown && !condition.unknown_fails) || is_other_way(condition, machine)) {
        return Severity::note;
    }
    return condition.needed.cufile ? Severity::blocks_cufile : Severity::blocks_direct;
}

// Which version of nvidia-fs's registration the nvme driver exports tells more (NVIDIA/gds-nvidia-fs, issue 87).
void add_symbol(Finding& finding, const SurroundingFacts& surroundings) {
    if (finding.id != "nvme-not-registered" || !surroundings.nvme_symbol.known()) {
        return;
    }
    const std::string& symbol = surroundings.nvme_symbol.value;
    if (symbol == "none") {
        finding.seen += "; the nvme module exports no symbol of nvidia-fs: it is likely the distribution's own, without NVIDIA's hooks";
        return;
    }
    finding.seen += fmt::format("; the nvme module exports nvme_{}_register_nvfs_dma_ops", symbol);
    if (symbol == "v2") {
        finding.seen += ", where nvidia-fs looks for v1: the packaging fault of DOCA-OFED 26.01";
        finding.fix = "install DOCA-OFED 26.04 or newer";
    }
}

Finding finding_of(const Condition& condition, const Answer& answer, const CheckSubject& subject) {
    const Advice& advice = advice_for(condition.id);
    Finding finding;
    finding.id = condition.id;
    finding.severity = severity_of(condition, answer, subject.machine);
    finding.seen = answer.text;
    finding.source = answer.source.empty() ? std::string(advice.source) : answer.source;
    finding.fix = advice.fix;
    finding.not_needed = advice.not_needed;
    add_symbol(finding, subject.surroundings);
    return finding;
}

}  // namespace

Verdict direct_verdict(const CheckSubject& subject) {
    const DirectPath direct = find_direct_path(subject.file, subject.machine, &subject.gpu);
    return {direct.path.has_value(), direct.path, direct.first_failing};
}

Verdict cufile_verdict(const CheckSubject& subject) {
    const auto failed = first_failing({true, false, false}, subject.file, subject.machine, &subject.gpu);
    return {!failed, std::nullopt, failed ? std::optional(failed->reason) : std::nullopt};
}

std::vector<Finding> find_all(const CheckSubject& subject) {
    const Verdict direct = direct_verdict(subject);
    std::vector<Finding> findings;
    for (const Condition& condition : conditions()) {
        const Answer answer = condition.ask({subject.file, subject.machine, &subject.gpu});
        // What is not known of a way that nobody asked for is not worth a line.
        const bool idle_doubt = answer.holds == Holds::unknown && is_other_way(condition, subject.machine);
        if (answer.holds == Holds::yes || idle_doubt || !matters(condition, direct, subject)) {
            continue;
        }
        Finding finding = finding_of(condition, answer, subject);
        const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) { return other.id == finding.id; });
        if (same == findings.end()) {
            findings.push_back(std::move(finding));
        } else if (finding.severity == Severity::blocks_cufile) {
            *same = std::move(finding);
        } else {
            same->seen = std::move(finding.seen);  // the same and a doubt
        }
    }
    for (const Rule& rule : rules()) {
        if (auto finding = apply(rule, subject)) {
            findings.push_back(std::move(*finding));
        }
    }
    // What blocks comes first, and notes last; else the order of the tables, machine before file.
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        const auto rank = [](const Finding& finding) {
            return finding.severity == Severity::note ? 2 : finding.severity == Severity::slows ? 1 : 0;
        };
        return rank(a) < rank(b);
    });
    return findings;
}

}  // namespace waybill
