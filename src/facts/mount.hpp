// The mount that a file lies in: found by mount id or by walking a mount table, never by comparing path prefixes as text.
//
// libmount parses; it is loaded at run time, so that neither the library nor the Python module needs it to start. Where it
// is missing, mounts are unknown facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// All mounts of a table in the format of mountinfo (proc_pid_mountinfo(5)), in its order.
[[nodiscard]] Fact<std::vector<MountFacts>> parse_mounts(const std::string& mountinfo, const std::string& source);
[[nodiscard]] Fact<std::vector<MountFacts>> read_mounts(const MachineRoot& root);

// The mount of an open file, by the id that statx gives. Live machine only.
[[nodiscard]] Fact<MountFacts> mount_of_descriptor(int fd, const MachineRoot& root);

// The mount in which a path lies, by the table alone, as the kernel walks: by ids and parents, from the lowest mount to the first
// one on the way that stands on it, so that what is mounted over is not seen. Absent when the table has no root.
[[nodiscard]] Fact<MountFacts> mount_of_path(const std::vector<MountFacts>& mounts, const std::string& path);

}  // namespace waybill
