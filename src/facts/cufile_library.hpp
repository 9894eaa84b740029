// Which libcufile a dlopen would take, without loading it.
#pragma once

#include <optional>

#include "base/environment.hpp"
#include "base/root.hpp"
#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

// A name with a slash is that file; else the folders of LD_LIBRARY_PATH, then the folders that loaders and CUDA's packages
// use.
[[nodiscard]] Fact<std::string> find_cufile_library(const MachineRoot& root, const Settings& settings, const Environment& environment);

// Where a dlopen looks, in order: LD_LIBRARY_PATH, the configured folders, the usual ones.
[[nodiscard]] std::vector<std::string> loader_folders(const MachineRoot& root, const Environment& environment);

// 1150 for libcufile.so.1.15.1, from the name of the file that the links lead to; else the version among the file's own texts
// ("1.17.1.22"), as PyPI's libcufile.so.0 has it.
[[nodiscard]] Fact<int> cufile_version_of(const MachineRoot& root, const std::string& library);

}  // namespace waybill
