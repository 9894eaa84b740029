#include "io/cufile_use.hpp"

#include <fmt/format.h>

#include "io/open_cufile.hpp"
#include "io/registered.hpp"
#include "route/fallback.hpp"

namespace waybill {
namespace {

// Opens cuFile and registers every file with it.
void prepare_cufile(Consignment& consignment) {
    const Settings& settings = *consignment.settings;
    CufileOptions options = cufile_options(settings, consignment.route->suspicious_driver);
    options.wait_ns = rest_of_limit_ns(consignment);
    options.statistics = settings.evidence.value != EvidenceLevel::off || consignment.require != Require::none;
    const CurrentContext current(consignment.lading.owner.context);
    const CufileDriver& driver = cufile_driver(options);
    consignment.lading.cufile = &driver.api;
    for (PartFile& file : consignment.files) {
        file.engine.cufile =
            file.descriptors->cufile_handle(driver, consignment.route->cufile_direct_descriptor, *file.name);
    }
    for (Part& part : consignment.parts) {
        part.work.registered_base = registered_base(part.work.memory, part.size_bytes);
        consignment.destination.registered = consignment.destination.registered || part.work.registered_base != nullptr;
    }
    if (const std::string* problem = driver.statistics_problem; options.statistics && problem != nullptr) {
        consignment.notes.push_back("cuFile's counters are not there: " + *problem);
    }
}

}  // namespace

// Under `off` a refusal is the answer; under `auto` the bytes are staged, and the receipt says why.
void prepare_cufile_or_stage(Consignment& consignment) {
    try {
        prepare_cufile(consignment);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::timeout) {
            throw;  // there is no time left in which to stage
        }
        const std::shared_ptr<const Route> wanted = consignment.route;
        if (!may_fall_back(*wanted, *consignment.settings, consignment.require)) {
            // What the route doubts is a reason for cuFile's own refusals alone.
            const Error told = wanted->doubt && error.native().layer == NativeCode::Layer::cufile
                                   ? error.with_advice(fmt::format("likely because {} ({})", wanted->doubt->text, wanted->doubt->id))
                                   : error;
            throw told.with_advice("set compat_mode=auto to let Waybill stage the bytes");
        }
        consignment.route = std::make_shared<const Route>(fall_back(*wanted, {"cufile-refused", error.what()}));
    }
}

}  // namespace waybill
