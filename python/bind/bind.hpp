// What the files of the binding share. No logic lives here: each function names its C++ counterpart.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "released.hpp"
#include "waybill/waybill.hpp"

namespace nb = nanobind;

using Texts = std::map<std::string, std::string>;

inline waybill::SettingValues values_of(const Texts& texts) { return {texts.begin(), texts.end()}; }
inline waybill::SettingLayers layers_of(const Texts& call, const Texts& context) { return {values_of(call), values_of(context)}; }

// Names of files need not be UTF-8: both ways as os.fsencode and os.fsdecode do it.
inline std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }
inline nb::str text_of(const std::string& text) {
    PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    if (decoded == nullptr) {
        throw nb::python_error();
    }
    return nb::steal<nb::str>(decoded);
}

void bind_errors(nb::module_& module);
void bind_settings(nb::module_& module);
void bind_receipt(nb::module_& module);
void bind_future(nb::module_& module);
void bind_file(nb::module_& module);
void bind_buffer(nb::module_& module);
void bind_check(nb::module_& module);
void bind_cufile(nb::module_& module);
void bind_memory(nb::module_& module);
