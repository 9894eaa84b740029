#include "gpu/driver_probe.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/child.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

namespace waybill {
namespace {

constexpr const char* kProgram = "waybill-probe";

// The folder of the object that holds this code: a program, a shared library or a Python module.
std::filesystem::path own_folder() {
    Dl_info found{};
    std::error_code ignored;
    if (::dladdr(reinterpret_cast<const void*>(&probe_driver), &found) != 0 && found.dli_fname != nullptr) {
        const auto path = std::filesystem::canonical(found.dli_fname, ignored);
        if (!ignored) {
            return path.parent_path();
        }
    }
    return std::filesystem::canonical("/proc/self/exe", ignored).parent_path();
}

std::filesystem::path find_program() {
    const std::filesystem::path folder = own_folder();
    for (const auto& candidate : {folder / kProgram, folder.parent_path() / kProgram,
                                  folder.parent_path() / "libexec/waybill" / kProgram,
                                  std::filesystem::path(WAYBILL_LIBEXEC_FOLDER) / kProgram}) {
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return {};
}

DriverProbe probe(std::vector<std::string> arguments, std::uint64_t limit_ns) {
    using Kind = ChildEnd::Kind;
    const std::filesystem::path program = find_program();
    if (program.empty()) {
        return {false, std::string("was not possible: the program ") + kProgram + " is missing beside this library"};
    }
    const ChildEnd end = run_child(program, arguments, limit_ns);
    if (end.kind == Kind::not_started) {
        throw_if_out_of_descriptors(end.number, program);
        if (end.number == EAGAIN || end.number == ENOMEM) {
            throw Error(ErrorCode::io_error, "the program " + program.string() + " cannot be started for want of memory or processes",
                        native_errno(end.number));
        }
    }
    DriverProbe probed{end.kind == Kind::exited && end.number == 0, to_text(end, duration_text(limit_ns) + " (driver_timeout)")};
    probed.crashed = end.kind == Kind::signalled;
    probed.hung = end.kind == Kind::out_of_time || end.kind == Kind::stuck;
    // The last line: the library may write to its output too.
    if (const auto at = end.output.rfind("waybill-probe: "); end.kind == Kind::exited && at != std::string::npos) {
        probed.text = trim(end.output.substr(at + std::string_view("waybill-probe: ").size()));
    }
    return probed;
}

}  // namespace

DriverProbe probe_driver(const std::string& library, std::uint64_t limit_ns) {
    return probe({library}, limit_ns);
}

DriverProbe probe_registration(const std::string& library, const std::string& file, bool direct, std::uint64_t limit_ns) {
    return probe({library, file, direct ? "direct" : "buffered"}, limit_ns);
}

}  // namespace waybill
