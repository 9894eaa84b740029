#include "bind.hpp"

void bind_cufile(nb::module_& module) {
    using waybill::CufileProperties;
    nb::class_<CufileProperties>(module, "CufileProperties", "What cuFile's driver says of itself; sizes in KiB.")
        .def_ro("nvidia_fs_major", &CufileProperties::nvidia_fs_major)
        .def_ro("nvidia_fs_minor", &CufileProperties::nvidia_fs_minor)
        .def_ro("poll_mode", &CufileProperties::poll_mode)
        .def_ro("allow_compat_mode", &CufileProperties::allow_compat_mode)
        .def_ro("poll_threshold_kib", &CufileProperties::poll_threshold_kib)
        .def_ro("device_cache_kib", &CufileProperties::device_cache_kib)
        .def_ro("per_buffer_cache_kib", &CufileProperties::per_buffer_cache_kib)
        .def_ro("pinned_memory_kib", &CufileProperties::pinned_memory_kib);
    module.def("cufile_properties", [] {
        const Released released;
        return waybill::cufile_properties();
    }, "Opens cuFile's driver.");
    module.def("set_cufile_polling", [](bool enable, std::uint64_t threshold_kib) {
        const Released released;
        waybill::set_cufile_polling(enable, threshold_kib);
    }, nb::arg("enable"), nb::arg("threshold_kib"));
    module.def("set_cufile_device_cache", [](std::uint64_t kib) {
        const Released released;
        waybill::set_cufile_device_cache(kib);
    }, nb::arg("kib"));
    module.def("set_cufile_pinned_memory", [](std::uint64_t kib) {
        const Released released;
        waybill::set_cufile_pinned_memory(kib);
    }, nb::arg("kib"));
}
