// cufile.json as a list of its members, each with line and column.
#pragma once

#include <string>
#include <vector>

#include "waybill/facts.hpp"

namespace waybill {

struct CufileText {
    bool valid = true;
    bool ends_process = false;         // libcufile aborts on it, where other faults make cuFileDriverOpen fail
    std::string problem;               // "line 3, column 2: ..."
    std::vector<CufileEntry> entries;  // objects and lists too, each before its members
};

// Reads as libcufile's parser does (JsonCpp, seen with 1.15 to 1.20): comments are allowed; so are text behind the first value,
// control characters in texts, and `[]` or `null` for the whole file, which then holds nothing; a byte order mark, a trailing comma
// and a comment with # are not. `file` is what the entries name.
[[nodiscard]] CufileText parse_cufile_entries(const std::string& text, const std::string& file);

}  // namespace waybill
