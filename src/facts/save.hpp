// Saving a machine: what a check looked at, with names and serials taken out, as entries of an archive.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/root.hpp"
#include "facts/archive.hpp"
#include "facts/scrub.hpp"

namespace waybill {

// Remembers each path that was asked for.
class PathsLookedAt final : public Recording {
public:
    void looked_at(std::string_view path) override { paths_.emplace(path); }
    [[nodiscard]] const std::set<std::string>& paths() const noexcept { return paths_; }

private:
    std::set<std::string> paths_;
};

// The running machine's files, links and folders among `paths`, by their true places, scrubbed.
[[nodiscard]] std::map<std::string, ArchiveEntry> saved_entries(const std::set<std::string>& paths, const Secrets& secrets);

}  // namespace waybill
