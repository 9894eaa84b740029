// Rules about the PCI bus between drive and GPU. Pure.
#pragma once

#include "check/rules.hpp"

namespace waybill {

bool iommu_on(const CheckSubject& subject, Finding& finding);
bool acs_on(const CheckSubject& subject, Finding& finding);
bool pcie_far(const CheckSubject& subject, Finding& finding);
bool pcie_apart(const CheckSubject& subject, Finding& finding);
bool bar1_small(const CheckSubject& subject, Finding& finding);
bool pcie_link_slow(const CheckSubject& subject, Finding& finding);

}  // namespace waybill
