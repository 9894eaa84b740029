// What is in an archive, as files in a folder: nothing leaves the folder, and number and size are bounded.
#pragma once

#include <string>

namespace waybill {

// All of the archive is counted before the first file is made. Throws Error bad_setting where it is no such archive, and
// io_error or disk_full where this machine cannot hold what is in it; all name `archive`.
void unpack(const std::string& archive, const std::string& folder);

}  // namespace waybill
