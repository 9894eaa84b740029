#include <nanobind/ndarray.h>

#include "bind.hpp"

void bind_buffer(nb::module_& module) {
    using waybill::Buffer;
    nb::class_<Buffer>(module, "Buffer", "Memory on a GPU or the host.")
        .def_static("on_gpu", &Buffer::on_gpu, nb::arg("device"), nb::arg("size_bytes"), nb::call_guard<nb::gil_scoped_release>())
        .def_static("on_host", &Buffer::on_host, nb::arg("size_bytes"), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("pointer", [](const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); })
        .def_prop_ro("size_bytes", &Buffer::size_bytes)
        .def_prop_ro("device", &Buffer::device)
        .def(
            "ndarray",
            [](nb::handle self) {
                const auto& buffer = nb::cast<const Buffer&>(self);
                const bool on_gpu = buffer.device() >= 0;
                return nb::ndarray<nb::array_api, std::uint8_t, nb::ndim<1>>(
                    buffer.data(), {static_cast<std::size_t>(buffer.size_bytes())}, self, {}, nb::dtype<std::uint8_t>(),
                    on_gpu ? nb::device::cuda::value : nb::device::cpu::value, on_gpu ? buffer.device() : 0);
            },
            "An array of bytes that speaks DLPack and, on the host, the buffer protocol; keeps this memory alive.")
        .def("to_bytes", [](const Buffer& buffer, std::uint64_t offset, std::uint64_t size_bytes) {
            std::string bytes(size_bytes, '\0');
            {
                const nb::gil_scoped_release released;
                buffer.copy_to_host(bytes.data(), offset, size_bytes);
            }
            return nb::bytes(bytes.data(), bytes.size());
        });
    nb::class_<waybill::RegisteredBuffer>(module, "RegisteredBuffer", "A registration with cuFile; ends with the object.")
        .def_static(
            "add",
            [](std::uintptr_t pointer, std::uint64_t size_bytes, const Texts& call, const Texts& context) {
                const nb::gil_scoped_release released;
                return waybill::RegisteredBuffer::add(reinterpret_cast<void*>(pointer), size_bytes, layers_of(call, context));
            },
            nb::arg("pointer"), nb::arg("size_bytes"), nb::arg("call"), nb::arg("context"));
    module.def("list_gpus", [] {
        std::vector<std::tuple<int, std::string, std::string, std::string>> gpus;
        for (const waybill::GpuFacts& gpu : waybill::list_gpus()) {
            gpus.emplace_back(gpu.device, gpu.name, gpu.uuid, gpu.pci_address);
        }
        return gpus;
    });
}
