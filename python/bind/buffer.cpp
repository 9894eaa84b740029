#include <nanobind/ndarray.h>

#include <algorithm>

#include "bind.hpp"

namespace {

// Memory of Waybill's of which the first `size_bytes` are an array.
struct ArrayMemory {
    waybill::Buffer buffer;
    std::uint64_t size_bytes = 0;
};

// The buffer protocol, for host memory.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    const auto& memory = *nb::inst_ptr<ArrayMemory>(self);
    if (memory.buffer.device() >= 0) {
        PyErr_SetString(PyExc_BufferError, "this array is in GPU memory; copy it with tobytes(), or use cupy.asarray or torch.from_dlpack");
        view->obj = nullptr;
        return -1;
    }
    static char none = 0;  // an array of no bytes has an address too
    void* data = memory.buffer.data() != nullptr ? memory.buffer.data() : &none;
    return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(memory.size_bytes), 0, flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};

nb::object ndarray_of(nb::handle self) {
    const auto& memory = nb::cast<const ArrayMemory&>(self);
    const int device = memory.buffer.device();
    return nb::cast(nb::ndarray<nb::array_api, std::uint8_t, nb::ndim<1>>(
        memory.buffer.data(), {static_cast<std::size_t>(memory.size_bytes)}, self, {}, nb::dtype<std::uint8_t>(),
        device >= 0 ? nb::device::cuda::value : nb::device::cpu::value, std::max(device, 0)));
}

nb::bytes to_bytes(const ArrayMemory& memory) {
    nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(memory.size_bytes)));
    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    char* destination = PyBytes_AsString(bytes.ptr());
    const Released released;
    memory.buffer.copy_to_host(destination, 0, memory.size_bytes);
    return bytes;
}

}  // namespace

void bind_buffer(nb::module_& module) {
    using waybill::Buffer;
    nb::class_<ArrayMemory>(module, "ArrayMemory", nb::type_slots(slots), "Memory on a GPU or the host; the base of waybill.Array.")
        .def(
            "__init__",
            [](ArrayMemory* self, int device, std::uint64_t size_bytes) {
                const Released released;
                new (self) ArrayMemory{device < 0 ? Buffer::on_host(size_bytes) : Buffer::on_gpu(device, size_bytes), size_bytes};
            },
            nb::arg("device"), nb::arg("size_bytes"))
        .def_prop_ro("_pointer", [](const ArrayMemory& memory) { return reinterpret_cast<std::uintptr_t>(memory.buffer.data()); })
        .def_prop_ro("_size_bytes", [](const ArrayMemory& memory) { return memory.size_bytes; })
        .def_prop_ro("_device", [](const ArrayMemory& memory) { return memory.buffer.device(); })
        .def("_shorten", [](ArrayMemory& memory, std::uint64_t size_bytes) { memory.size_bytes = std::min(memory.size_bytes, size_bytes); })
        .def("_ndarray", &ndarray_of, "An array of bytes that speaks DLPack; keeps this memory alive.")
        .def("_to_bytes", &to_bytes);
    nb::class_<waybill::RegisteredBuffer>(module, "RegisteredBuffer", "A registration with cuFile; ends with the object.")
        .def_static(
            "add",
            [](std::uintptr_t pointer, std::uint64_t size_bytes, const Texts& call, const Texts& context) {
                const Released released;
                return waybill::RegisteredBuffer::add(reinterpret_cast<void*>(pointer), size_bytes, layers_of(call, context));
            },
            nb::arg("pointer"), nb::arg("size_bytes"), nb::arg("call"), nb::arg("context"));
    module.def("find_device", &waybill::find_device, nb::call_guard<Released>(), nb::arg("name"),
               "The number of the GPU of that name; -1 for host memory.");
    module.def("list_gpus", [] {
        std::vector<std::tuple<int, std::string, std::string, std::string>> gpus;
        const std::vector<waybill::GpuFacts> facts = [] {
            const Released released;  // the driver's first call takes a second or more
            return waybill::list_gpus();
        }();
        for (const waybill::GpuFacts& gpu : facts) {
            gpus.emplace_back(gpu.device, gpu.name, gpu.uuid, gpu.pci_address);
        }
        return gpus;
    });
}
