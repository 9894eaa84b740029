#include "settings/cufile_values.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/cufile_contradictions.hpp"
#include "settings/cufile_value_check.hpp"

namespace waybill {
namespace {

using Kind = CufileProblem::Kind;

bool lies_in(std::string_view key, std::string_view section) {
    return key.size() > section.size() && key.starts_with(section) && key[section.size()] == '.';
}

// Of a version that has keys there: others do not look.
bool is_section(std::string_view path, int version) {
    return std::any_of(cufile_keys().begin(), cufile_keys().end(),
                       [&](const CufileKey& key) { return key.known_to(version) && lies_in(key.path, path); });
}

bool is_section_of_any_version(std::string_view path) {
    return std::any_of(cufile_keys().begin(), cufile_keys().end(), [&](const CufileKey& key) { return lies_in(key.path, path); });
}

// The known key nearest to a misspelt one: near as a whole, or of the same name in another section.
std::string nearest_key(const std::string& path) {
    std::vector<std::string> known;
    const std::string name = path.substr(path.rfind('.') + 1);
    for (const CufileKey& key : cufile_keys()) {
        if (key.path.substr(key.path.rfind('.') + 1) == name) {
            return std::string(key.path);
        }
        known.emplace_back(key.path);
    }
    return nearest(path, known);
}

std::string nearest_variable(const std::string& name) {
    std::vector<std::string> known;
    for (const CufileVariable& variable : cufile_variables()) {
        known.emplace_back(variable.name);
    }
    return nearest(name, known);
}

// "libcufile 1.16 does not know it: it came with 1.17"
std::string of_another_version(int version, int since, int until) {
    return version < since ? fmt::format("libcufile {} does not know it: it came with {}", cufile_version_text(version), cufile_version_text(since))
                           : fmt::format("libcufile {} no longer knows it: {} was the last before", cufile_version_text(version),
                                         cufile_version_text(until - 10));
}

// One reading, built up entry by entry.
class Reader {
public:
    explicit Reader(std::optional<int> version) : known_version_(version), version_(version.value_or(kNewestCufile)) {
        for (const CufileKey& key : cufile_keys()) {
            if (key.known_to(version_)) {
                reading_.values.push_back({&key, std::string(built_in_of(key, version_)), CufileOrigin::built_in,
                                           fmt::format("built into libcufile{}", version ? " " + cufile_version_text(*version) : "")});
            }
        }
    }

    void take(const CufileEntry& entry) {
        if (!skipped_.empty() && skipped_file_ == entry.file && lies_in(entry.key, skipped_)) {
            return;
        }
        skipped_.clear();
        const CufileKey* key = find_cufile_key(entry.key);
        if (key != nullptr) {
            skip_members(entry);
            take(*key, entry);
        } else if (is_section_of_any_version(entry.key)) {
            if (is_section(entry.key, version_) && entry.type != "object" && entry.type != "null") {
                add(Kind::ends_process, fmt::format("{}: {} is {}, where libcufile wants an object and ends the process", place_of(entry), entry.key,
                                                    entry.value));
            }
        } else {
            skip_members(entry);
            const std::string near = nearest_key(entry.key);
            add(Kind::unheard, fmt::format("{}: {} is no key of cufile.json{}", place_of(entry), entry.key,
                                           near.empty() ? "" : fmt::format("; the nearest is {}", near)));
        }
    }

    void take_variable(const std::string& name, const std::string& text) {
        const CufileVariable* variable = find_cufile_variable(name);
        if (variable == nullptr) {
            const std::string near = nearest_variable(name);
            add(Kind::unheard, fmt::format("{} is no variable of libcufile{}", name, near.empty() ? "" : fmt::format("; the nearest is {}", near)));
            return;
        }
        if (!variable->known_to(version_)) {
            if (known_version_) {
                add(Kind::unheard, fmt::format("{}: {}", name, of_another_version(version_, variable->since, variable->until)));
            }
            return;
        }
        if (CufileValue* value = find(variable->key)) {
            take_variable(*value, *variable, text);
        }
    }

    CufileReading finish() {
        for (CufileProblem& problem : cufile_contradictions(reading_, version_)) {
            reading_.problems.push_back(std::move(problem));
        }
        return std::move(reading_);
    }

private:
    void add(Kind kind, std::string text) { reading_.problems.push_back({kind, std::move(text)}); }

    void skip_members(const CufileEntry& entry) {
        skipped_ = entry.key;
        skipped_file_ = entry.file;
    }

    CufileValue* find(std::string_view path) {
        const auto found = std::find_if(reading_.values.begin(), reading_.values.end(), [&](const CufileValue& value) { return value.key->path == path; });
        return found == reading_.values.end() ? nullptr : &*found;
    }

    void take(const CufileKey& key, const CufileEntry& entry) {
        CufileValue* const value = find(key.path);
        if (value == nullptr) {
            if (known_version_) {
                add(Kind::unheard, fmt::format("{}: {}: {}", place_of(entry), key.path, of_another_version(version_, key.since, key.until)));
            }
            return;
        }
        if (!key.heard) {
            add(Kind::unheard, fmt::format("{}: {} is passed over by libcufile, though it logs a value of this name", place_of(entry), key.path));
            return;
        }
        CufileCheck check = check_cufile_value(key, entry, version_);
        if (check.taken != CufileTaken::yes) {
            add(check.taken == CufileTaken::refused ? Kind::refused : Kind::passed_over,
                fmt::format("{}: {} {}", place_of(entry), key.path, check.wrong));
        }
        if (check.taken != CufileTaken::refused && !check.value.empty()) {
            value->value = std::move(check.value);
            value->origin = CufileOrigin::file;
            value->where = place_of(entry);
        }
    }

    // A switch is on by the word true alone, in any case; everything else, 1 and yes too, switches it off (seen with 1.15 and 1.20).
    void take_variable(CufileValue& value, const CufileVariable& variable, const std::string& text) {
        std::string json = text;
        if (value.key->type == CufileType::boolean) {
            json = lower(text) == "true" ? "true" : "false";
            if (json == "false" && lower(text) != "false") {
                add(Kind::passed_over, fmt::format("{} is '{}', which counts as false: only the word true switches it on", variable.name, text));
            }
        } else if (value.key->type == CufileType::integer) {
            const CufileEntry entry{std::string(variable.name), text, "integer", {}, 0, 0};
            const CufileCheck check = check_cufile_value(*value.key, entry, version_);
            if (check.taken != CufileTaken::yes) {
                add(Kind::passed_over, fmt::format("{} {}; libcufile passes it over", variable.name, check.wrong));
                return;
            }
        } else {
            json = '"' + text + '"';
        }
        value.value = json;
        value.origin = CufileOrigin::variable;
        value.where = variable.name;
    }

    std::optional<int> known_version_;
    int version_;
    CufileReading reading_;
    std::string skipped_;       // members of this are no keys
    std::string skipped_file_;
};

// A name given twice: the last one counts, with all that it holds (JsonCpp). What it covers is taken out and told.
std::vector<CufileEntry> without_covered(const std::vector<CufileEntry>& entries, std::vector<CufileProblem>& problems) {
    std::map<std::pair<std::string, std::string>, std::size_t> last;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        last[{entries[k].file, entries[k].key}] = k;
    }
    std::vector<CufileEntry> kept;
    std::string covered;
    std::string file;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const CufileEntry& entry = entries[k];
        if (!covered.empty() && file == entry.file && lies_in(entry.key, covered)) {
            continue;
        }
        covered.clear();
        const CufileEntry& counts = entries[last[{entry.file, entry.key}]];
        if (&counts == &entry) {
            kept.push_back(entry);
            continue;
        }
        covered = entry.key;
        file = entry.file;
        problems.push_back({Kind::contradiction, fmt::format("{}: {} is given again at {}, which alone counts", place_of(entry), entry.key,
                                                             place_of(counts))});
    }
    return kept;
}

}  // namespace

std::string place_of(const CufileEntry& entry) {
    return fmt::format("{}:{}:{}", entry.file, entry.line, entry.column);
}

std::string texts_of(const CufileReading& reading, CufileProblem::Kind kind) {
    std::string text;
    for (const CufileProblem& problem : reading.problems) {
        if (problem.kind == kind) {
            text += (text.empty() ? "" : "; ") + problem.text;
        }
    }
    return text;
}

CufileReading read_cufile_values(const std::vector<CufileEntry>& entries, const Environment& variables, std::optional<int> version) {
    std::vector<CufileProblem> covered;
    Reader reader(version && *version >= 0 ? version : std::nullopt);
    for (const CufileEntry& entry : without_covered(entries, covered)) {
        reader.take(entry);
    }
    for (const auto& [name, text] : variables) {
        if (name.starts_with("CUFILE_")) {
            reader.take_variable(name, text);
        }
    }
    CufileReading reading = reader.finish();
    reading.problems.insert(reading.problems.end(), covered.begin(), covered.end());
    return reading;
}

}  // namespace waybill
