// What is in an archive, as files in a folder: nothing leaves the folder, and number and size are bounded.
#pragma once

#include <string>

namespace waybill {

// All of the archive is counted before the first file is made. Throws Error bad_setting, which names `archive`.
void unpack(const std::string& archive, const std::string& folder);

}  // namespace waybill
