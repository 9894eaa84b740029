// Saving a machine: what a check looked at, with names and serials taken out, as entries of an archive.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/root.hpp"
#include "facts/archive.hpp"

namespace waybill {

// Remembers each path that was asked for.
class PathsLookedAt final : public Recording {
public:
    void looked_at(std::string_view path) override { paths_.emplace(path); }
    [[nodiscard]] const std::set<std::string>& paths() const noexcept { return paths_; }

private:
    std::set<std::string> paths_;
};

// Words that must not leave the machine, and what stands for them.
struct Secrets {
    std::map<std::string, std::string> words;  // host and user names, longest first does not matter
    [[nodiscard]] static Secrets of_this_machine();
};

// The text without host and user names, network addresses, UUIDs, serials and long identifiers. Pure.
[[nodiscard]] std::string scrub(std::string text, const Secrets& secrets);

// The running machine's files, links and folders among `paths`, by their true places, scrubbed.
[[nodiscard]] std::map<std::string, ArchiveEntry> saved_entries(const std::set<std::string>& paths, const Secrets& secrets);

}  // namespace waybill
