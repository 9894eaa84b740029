#include "arrays.hpp"

#include <nanobind/stl/pair.h>

namespace {

using waybill::File;

waybill::Receipt read_many(const std::vector<std::pair<const File*, Place>>& places, const std::string& require,
                           std::optional<std::uintptr_t> stream, const Texts& call) {
    std::vector<waybill::FileRequest> requests;
    requests.reserve(places.size());
    for (const auto& [file, place] : places) {
        requests.push_back({file, request_of(place, false, require, stream, false)});
    }
    const nb::gil_scoped_release released;
    return waybill::read_many(requests, values_of(call));
}

}  // namespace

void bind_file(nb::module_& module) {
    nb::class_<File>(module, "File", "An open file, as C++ holds it; any number of threads.")
        .def_static(
            "open",
            [](const std::string& path, const std::string& mode, const Texts& call, const Texts& context) {
                const nb::gil_scoped_release released;
                return File::open(path, waybill::parse_mode(mode), layers_of(call, context));
            },
            nb::arg("path"), nb::arg("mode"), nb::arg("call"), nb::arg("context"))
        .def("read",
             [](const File& file, const Place& place, const std::string& require, std::optional<std::uintptr_t> stream,
                const Texts& call) {
                 const nb::gil_scoped_release released;
                 return file.read(request_of(place, false, require, stream, false), values_of(call));
             })
        .def("pread",
             [](const File& file, const Place& place, const std::string& require, std::optional<std::uintptr_t> stream,
                const Texts& call) {
                 const nb::gil_scoped_release released;
                 return file.pread(request_of(place, false, require, stream, false), values_of(call));
             })
        .def("pwrite",
             [](const File& file, const Place& place, const std::string& require, std::optional<std::uintptr_t> stream,
                const Texts& call, bool sync) {
                 const nb::gil_scoped_release released;
                 return file.pwrite(request_of(place, true, require, stream, sync), values_of(call));
             })
        .def("sync", &File::sync, nb::call_guard<nb::gil_scoped_release>())
        .def("close", &File::close, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("closed", &File::closed)
        .def_prop_ro("size", &File::size)
        .def_prop_ro("descriptor", &File::descriptor);
    module.def("read_many", &read_many);
    module.def(
        "explain",
        [](const std::string& path, int device, std::uint64_t offset, std::optional<std::uint64_t> size, const Texts& call,
           const Texts& context) {
            const nb::gil_scoped_release released;
            const waybill::Explanation explanation = waybill::explain(path, device, offset, size, layers_of(call, context));
            return std::make_tuple(to_text(explanation), to_json(explanation));
        },
        "A read's route and plan as (text, JSON), before any read.");
}
