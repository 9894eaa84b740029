// Whether libcufile takes a value of cufile.json for a key. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/cufile_keys.hpp"
#include "waybill/facts.hpp"

namespace waybill {

enum class CufileTaken { yes, as_another, refused };

struct CufileCheck {
    CufileTaken taken = CufileTaken::yes;
    std::string value;   // JSON text that it comes to; empty: the default
    std::string wrong;   // "is \"yes\"; true or false is accepted"
};

// As the library's parser does: true and false pass for the integers 1 and 0, a fraction is cut off, and null leaves the default.
[[nodiscard]] CufileCheck check_cufile_value(const CufileKey& key, const CufileEntry& entry, int version);

// The elements of a list's JSON text: [4, "a"] -> 4, "a".
[[nodiscard]] std::vector<std::string> list_elements(std::string_view text);

}  // namespace waybill
