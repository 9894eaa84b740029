#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "waybill/version.hpp"

namespace waybill {

int run_version(const VersionArguments& arguments) {
    print(arguments.json ? fmt::format("{{\"schema\": \"waybill.version/1\", \"version\": \"{}\"}}\n", kVersion)
                         : fmt::format("waybill {}\n", kVersion));
    return 0;
}

}  // namespace waybill
