// `config --cufile`: every effective value of cuFile's configuration and where it is from, and what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "settings/cufile_values.hpp"
#include "waybill/facts.hpp"
#include "waybill/settings.hpp"

namespace waybill {

struct CufileSummary {
    Fact<std::string> library;
    Fact<int> version;
    CufileConfig config;
    CufileReading reading;
};

// For the running machine and this process's environment.
[[nodiscard]] CufileSummary gather_cufile_summary(const Settings& settings);

[[nodiscard]] std::string cufile_text(const CufileSummary& summary);
// schema "waybill.cufile/1"; docs/schema/cufile.json
[[nodiscard]] std::string cufile_json(const CufileSummary& summary);
// The table of keys, for docs/cufile-json.md.
[[nodiscard]] std::string cufile_markdown();

[[nodiscard]] std::string_view to_text(CufileOrigin origin) noexcept;         // default, file, variable
[[nodiscard]] std::string_view to_text(CufileProblem::Kind kind) noexcept;    // unknown, refused, ignored, contradiction, ends-process

}  // namespace waybill
