// MachineRoot: a folder that stands for `/`, so that saved files can stand for a machine.
//
// All reads of facts go through it. A path never leaves the root, not even through symbolic links (openat2 with
// RESOLVE_IN_ROOT; a kernel without it gets a plain open for the root `/` alone). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "waybill/facts.hpp"

namespace waybill {

// What was looked at under a root, so that it can be saved.
class Recording {
public:
    virtual ~Recording() = default;
    virtual void looked_at(std::string_view path) = 0;
};

class MachineRoot {
public:
    // Every path that is asked for is told to `recording`, which must outlive this. `name`: how people know it, where it is not
    // by its path: the archive that was unpacked there.
    explicit MachineRoot(std::string path = "/", Recording* recording = nullptr, std::string name = {});

    [[nodiscard]] const std::string& name() const noexcept { return name_.empty() ? path_ : name_; }
    // The running machine itself: what system calls answer belongs to these facts.
    [[nodiscard]] bool is_live() const noexcept { return path_ == "/"; }

    // The whole text of a small file (at most `limit_bytes` from `offset_bytes` on, for /proc files too). `path` is absolute.
    // absent: no such file; unknown: it could not be read.
    [[nodiscard]] Fact<std::string> read(std::string_view path, std::size_t limit_bytes = kReadLimit, std::uint64_t offset_bytes = 0) const;
    // The names in a folder, sorted.
    [[nodiscard]] Fact<std::vector<std::string>> list(std::string_view path) const;
    [[nodiscard]] Fact<bool> exists(std::string_view path) const;
    // The text of a symbolic link.
    [[nodiscard]] Fact<std::string> link(std::string_view path) const;

    static constexpr std::size_t kReadLimit = std::size_t{4} << 20;

private:
    [[nodiscard]] Fd open(std::string_view path, int flags, int& problem) const;
    std::string path_;
    std::string name_;
    Recording* recording_ = nullptr;
    Fd folder_;
};

}  // namespace waybill
