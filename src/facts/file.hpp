// All facts of one open file.
#pragma once

#include <string>

#include "base/root.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// On the running machine the descriptor is asked; under another root the path is looked up in that root's mount table.
// Mount, device and alignment are kept for files of the same mount, until the mount table changes (the kernel tells by
// poll) or five seconds have passed; the udev record is read each time, since people add it while a program runs.
[[nodiscard]] FileFacts gather_file(int fd, const std::string& path, const MachineRoot& root);

}  // namespace waybill
