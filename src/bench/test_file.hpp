// A file to measure with, where none was named.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.hpp"

namespace waybill {

// Bytes that no file system can compress, on the disk, in `folder`. The file has no name any more, so nothing of it is left
// however the program ends. Throws Error io_error, disk_full.
class TestFile {
public:
    TestFile(const std::string& folder, std::uint64_t size_bytes);
    // A path under which this process can open it.
    [[nodiscard]] std::string path() const;

private:
    Fd fd_;
};

}  // namespace waybill
