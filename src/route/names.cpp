#include <array>
#include <string>

#include "base/text.hpp"
#include "waybill/error.hpp"
#include "waybill/route.hpp"

namespace waybill {
namespace {

struct RequireName {
    Require require;
    std::string_view text;
};
constexpr std::array kRequires{
    RequireName{Require::none, "none"},           RequireName{Require::direct, "direct"},
    RequireName{Require::nvidia_fs, "nvidia-fs"}, RequireName{Require::p2pdma, "p2pdma"},
    RequireName{Require::cufile_posix, "cufile-posix"}, RequireName{Require::staged, "staged"},
    RequireName{Require::host, "host"},
};

}  // namespace

std::string_view to_text(Direction direction) noexcept {
    return direction == Direction::read ? "read" : "write";
}

std::string_view to_text(EngineKind engine) noexcept {
    switch (engine) {
        case EngineKind::host: return "host";
        case EngineKind::staged: return "staged";
        case EngineKind::cufile: return "cufile";
    }
    return "";
}

std::string_view to_text(Path path) noexcept {
    switch (path) {
        case Path::host: return "host";
        case Path::staged: return "staged";
        case Path::cufile_posix: return "cufile-posix";
        case Path::nvidia_fs: return "nvidia-fs";
        case Path::p2pdma: return "p2pdma";
        case Path::mixed: return "mixed";
        case Path::unknown: return "unknown";
    }
    return "";
}

std::string_view to_text(Require require) noexcept {
    for (const RequireName& row : kRequires) {
        if (row.require == require) {
            return row.text;
        }
    }
    return "";
}

Require parse_require(std::string_view text) {
    std::vector<std::string> accepted;
    for (const RequireName& row : kRequires) {
        if (row.text == text) {
            return row.require;
        }
        accepted.emplace_back(row.text);
    }
    throw Error(ErrorCode::invalid_argument,
                "require '" + std::string(text) + "' is unknown; accepted: " + join(accepted, ", "));
}

}  // namespace waybill
