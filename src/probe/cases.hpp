// What a report foretells of each thing that --probe tries, and what it means where another thing came of it. Pure.
#pragma once

#include <string>

#include "waybill/check.hpp"

namespace waybill {

// How a try ended.
struct Tried {
    enum class End { done, refused, crashed, hung };
    End end = End::refused;
    std::string path;   // of a read that was done
    std::string error;  // its code, of a read that was refused
    std::string text;   // for people
};

[[nodiscard]] std::string foretold_driver_open(const CheckReport& report);   // opened, refused, crashed, hung, unknown
[[nodiscard]] std::string foretold_registration(const CheckReport& report);  // registered, refused, unknown
[[nodiscard]] std::string foretold_cufile_read(const CheckReport& report);   // a path, refused

// A crash or a hang agrees only with one that was foretold: it is no refusal.
[[nodiscard]] ProbeStep step_of(const std::string& what, const std::string& foretold, const Tried& tried);

// Appends the step, and a finding where a library crashed or hung, or the step disagrees. What blocks comes first.
void add_step(CheckReport& report, ProbeStep step, Tried::End end);

}  // namespace waybill
