#include "check/rules.hpp"

#include <array>

#include "check/bus_rules.hpp"
#include "check/cufile_rules.hpp"
#include "check/library_rules.hpp"
#include "check/place_rules.hpp"

namespace waybill {
namespace {

constexpr std::array kRules{
    Rule{"cufile-driver-mismatch", Severity::note, &driver_too_old},
    Rule{"cufile-json-missing", Severity::note, &cufile_json_missing},
    Rule{"cufile-json-unknown-key", Severity::note, &cufile_json_unknown_key},
    Rule{"cufile-json-ignored-value", Severity::note, &cufile_json_ignored_value},
    Rule{"cufile-json-contradiction", Severity::note, &cufile_json_contradiction},
    Rule{"subpath-mount", Severity::note, &subpath_mount},
    Rule{"iommu-on", Severity::slows, &iommu_on},
    Rule{"acs-on", Severity::slows, &acs_on},
    Rule{"pcie-far", Severity::slows, &pcie_far},
    Rule{"pcie-apart", Severity::note, &pcie_apart},
    Rule{"bar1-small", Severity::note, &bar1_small},
    Rule{"pcie-link-slow", Severity::slows, &pcie_link_slow},
    Rule{"memlock-low", Severity::note, &memlock_low},
    Rule{"shared-memory-low", Severity::note, &shared_memory_low},
    Rule{"open-files-low", Severity::note, &open_files_low},
    Rule{"device-order-unknown", Severity::note, &device_order_unknown},
    Rule{"container", Severity::note, &in_container},
    Rule{"virtual-machine", Severity::note, &in_virtual_machine},
};

}  // namespace

std::span<const Rule> rules() {
    return kRules;
}

std::optional<Finding> apply(const Rule& rule, const CheckSubject& subject) {
    Finding finding;
    finding.id = rule.id;
    finding.severity = rule.severity;
    return rule.ask(subject, finding) ? std::optional(std::move(finding)) : std::nullopt;
}

}  // namespace waybill
