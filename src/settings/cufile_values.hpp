// What cufile.json and the CUFILE_ variables come to for one version of libcufile: every key's effective value and where it is
// from, and all that is wrong or goes unheard. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "settings/cufile_keys.hpp"
#include "waybill/facts.hpp"

namespace waybill {

enum class CufileOrigin { built_in, file, variable };

struct CufileValue {
    const CufileKey* key = nullptr;
    std::string value;   // JSON text
    CufileOrigin origin = CufileOrigin::built_in;
    std::string where;   // "built into libcufile 1.17", "/etc/cufile.json:3:7", "CUFILE_FORCE_COMPAT_MODE"
};

struct CufileProblem {
    enum class Kind {
        unheard,        // a key or variable that this version passes over
        refused,        // a value for which cuFileDriverOpen fails
        passed_over,    // a value that is taken as another, or as the default
        contradiction,  // keys that do not go together
        ends_process,   // the library aborts when its driver opens
        ends_read,      // or when it reads
    };
    Kind kind = Kind::unheard;
    std::string text;   // with file, line and column
};

struct CufileReading {
    std::vector<CufileValue> values;      // of the keys that the version knows, in the table's order
    std::vector<CufileProblem> problems;  // in the order of the files; variables, then contradictions, last
};

// `variables`: those that begin with CUFILE_ count. An unknown version is taken for the newest that the table knows, and nothing is
// then called unheard or refused that another version takes.
[[nodiscard]] CufileReading read_cufile_values(const std::vector<CufileEntry>& entries, const Environment& variables,
                                               std::optional<int> version);

// "/etc/cufile.json:3:7"
[[nodiscard]] std::string place_of(const CufileEntry& entry);

// The texts of all problems of one kind, joined by "; ".
[[nodiscard]] std::string texts_of(const CufileReading& reading, CufileProblem::Kind kind);

}  // namespace waybill
