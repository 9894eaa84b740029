#include <algorithm>

#include "arrays.hpp"
#include "buffer_view.hpp"
#include "kept_future.hpp"

namespace {

using waybill::File;

using FilePlace = std::tuple<const File*, Place>;

std::vector<waybill::FileRequest> requests_of(const std::vector<FilePlace>& places, const std::string& require) {
    std::vector<waybill::FileRequest> requests;
    requests.reserve(places.size());
    for (const auto& [file, place] : places) {
        requests.push_back({file, request_of(place, require)});
    }
    return requests;
}

// Ranges of files, one after another from where `place` begins in its memory.
std::vector<waybill::FileRequest> back_to_back(const std::vector<const File*>& files, const std::vector<std::uint64_t>& offsets,
                                               const std::vector<std::uint64_t>& sizes, const Place& place,
                                               const std::string& require) {
    waybill::FileRequest request{nullptr, request_of(place, require)};
    std::vector<waybill::FileRequest> requests;
    requests.reserve(offsets.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        request.file = files.at(files.size() == 1 ? 0 : k);
        request.request.file_offset = offsets[k];
        request.request.size_bytes = sizes.at(sizes.size() == 1 ? 0 : k);
        requests.push_back(request);
        request.request.target_offset += *request.request.size_bytes;
    }
    return requests;
}

// Python owns what comes back.
template <class Begin>
KeptFuture* keep(Begin&& begin, nb::object kept) {
    waybill::Future future;
    {
        const Released released;
        future = begin();
    }
    return new KeptFuture(std::move(future), std::move(kept));
}

// An int of Python's own, at least 0; absent for anything else.
std::optional<std::uint64_t> plain_count(nb::handle value) {
    if (Py_TYPE(value.ptr()) != &PyLong_Type) {
        return std::nullopt;
    }
    const long long number = PyLong_AsLongLong(value.ptr());
    if (number < 0) {
        PyErr_Clear();  // -1 with an exception: too large
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(number);
}

// Whether all of a list are such: there can be very many.
bool are_plain_counts(const nb::list& values) {
    return std::all_of(values.begin(), values.end(), [](nb::handle value) { return plain_count(value).has_value(); });
}

// A blocking read in one call: what a small read costs above this library is mostly the way through Python. None where anything
// is unusual; the package then serves it, or says why not.
nb::object read_at_once(const File& file, const waybill::Target& target, std::optional<void*> stream, nb::handle offset,
                        nb::handle size, nb::handle target_offset, const char* require, std::uint64_t below_bytes) {
    const std::optional<std::uint64_t> from = plain_count(offset);
    const std::optional<std::uint64_t> count = size.is_none() ? target.capacity_bytes : plain_count(size);
    const std::optional<std::uint64_t> into = plain_count(target_offset);
    if (!from || !count || !into || *count >= below_bytes) {
        return nb::none();
    }
    waybill::Request request;
    request.file_offset = *from;
    if (!size.is_none()) {
        request.size_bytes = *count;
    }
    request.target = target;
    request.target_offset = *into;
    request.require = waybill::parse_require(require);
    request.stream = stream;
    std::optional<waybill::Receipt> receipt;
    {
        const Released released;
        receipt.emplace(file.read(request));
    }
    return nb::cast(std::move(*receipt));
}

// Into the memory of an object with the buffer protocol.
nb::object read_buffer(const File& file, nb::handle array, nb::handle offset, nb::handle size, nb::handle target_offset,
                       const char* require, std::uint64_t below_bytes) {
    const BufferView view(array);
    if (!view.writable_bytes()) {
        return nb::none();
    }
    const waybill::Target target{view.data(), *view.writable_bytes(), {}, false};
    return read_at_once(file, target, std::nullopt, offset, size, target_offset, require, below_bytes);
}

// Into memory whose address, size and stream are known.
nb::object read_memory(const File& file, std::uintptr_t pointer, std::uint64_t capacity_bytes, std::uintptr_t stream,
                       nb::handle offset, nb::handle size, nb::handle target_offset, const char* require,
                       std::uint64_t below_bytes) {
    const waybill::Target target{reinterpret_cast<void*>(pointer), capacity_bytes, {}, false};
    return read_at_once(file, target, reinterpret_cast<void*>(stream), offset, size, target_offset, require, below_bytes);
}

}  // namespace

void bind_file(nb::module_& module) {
    nb::class_<File>(module, "File", "An open file, as C++ holds it; any number of threads.")
        .def_static(
            "open",
            [](const nb::bytes& path, const std::string& mode, const Texts& call, const Texts& context) {
                const std::string name = path_of(path);
                const Released released;
                return File::open(name, waybill::parse_mode(mode), layers_of(call, context));
            },
            nb::arg("path"), nb::arg("mode"), nb::arg("call"), nb::arg("context"))
        .def("read_buffer", &read_buffer, nb::arg("array").none(), nb::arg("offset").none(), nb::arg("size").none(),
             nb::arg("target_offset").none(), nb::arg("require"), nb::arg("below_bytes"))
        .def("read_memory", &read_memory, nb::arg("pointer"), nb::arg("capacity_bytes"), nb::arg("stream"), nb::arg("offset").none(),
             nb::arg("size").none(), nb::arg("target_offset").none(), nb::arg("require"), nb::arg("below_bytes"))
        .def("read",
             [](const File& file, const Place& place, const std::string& require, const Texts& call) {
                 const waybill::Request request = request_of(place, require);
                 const Released released;
                 return file.read(request, values_of(call));
             })
        .def("pread",
             [](const File& file, const Place& place, const std::string& require, const Texts& call, nb::object kept, bool room_is_of_file) {
                 waybill::Request request = request_of(place, require);
                 request.room_is_of_file = room_is_of_file;
                 return keep([&] { return file.pread(request, values_of(call)); }, std::move(kept));
             },
             nb::arg("place"), nb::arg("require"), nb::arg("call"), nb::arg("kept").none(), nb::arg("room_is_of_file") = false)
        .def("pwrite",
             [](const File& file, const Place& place, const std::string& require, const Texts& call, bool sync, nb::object kept) {
                 waybill::Request request = request_of(place, require);
                 request.target.read_only = true;
                 request.sync = sync;
                 return keep([&] { return file.pwrite(request, values_of(call)); }, std::move(kept));
             })
        .def("sync", &File::sync, nb::call_guard<Released>())
        .def("close", &File::close, nb::call_guard<Released>())
        .def_prop_ro("closed", &File::closed)
        .def_prop_ro("size", &File::size)
        .def_prop_ro("descriptor", &File::descriptor)
        .def_prop_ro("time_limit_ns", [](const File& file) { return file.settings().time_limit.value; });
    module.def("are_plain_counts", &are_plain_counts, nb::arg("values"));
    module.def("read_many", [](const std::vector<FilePlace>& places, const std::string& require, const Texts& call) {
        const std::vector<waybill::FileRequest> requests = requests_of(places, require);
        const Released released;
        return waybill::read_many(requests, values_of(call));
    });
    module.def("pread_many",
               [](const std::vector<FilePlace>& places, const std::string& require, const Texts& call, nb::object kept) {
                   const std::vector<waybill::FileRequest> requests = requests_of(places, require);
                   return keep([&] { return waybill::pread_many(requests, values_of(call)); }, std::move(kept));
               });
    module.def("read_ranges", [](const std::vector<const File*>& files, const std::vector<std::uint64_t>& offsets,
                                 const std::vector<std::uint64_t>& sizes, const Place& place, const std::string& require,
                                 const Texts& call) {
        const Released released;
        return waybill::read_many(back_to_back(files, offsets, sizes, place, require), values_of(call));
    });
    module.def("pread_ranges",
               [](const std::vector<const File*>& files, const std::vector<std::uint64_t>& offsets,
                  const std::vector<std::uint64_t>& sizes, const Place& place, const std::string& require, const Texts& call,
                  nb::object kept) {
                   return keep([&] { return waybill::pread_many(back_to_back(files, offsets, sizes, place, require), values_of(call)); },
                               std::move(kept));
               });
    module.def(
        "explain",
        [](const nb::bytes& path, const std::optional<std::string>& device, std::uint64_t offset, std::optional<std::uint64_t> size, bool registered,
           const Texts& call, const Texts& context) {
            const std::string name = path_of(path);
            std::string text;
            std::string json;
            {
                const Released released;
                const waybill::Explanation explanation =
                    waybill::explain(name, device, offset, size, layers_of(call, context), registered);
                text = to_text(explanation);
                json = to_json(explanation);
            }
            return std::make_tuple(text_of(text), text_of(json));
        },
        "A read's route and plan as (text, JSON), before any read.");
}
