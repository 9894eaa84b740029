#include "bind.hpp"

namespace {

// Hands the error to waybill.errors, whose table makes the Python exception of its code.
void translate(const std::exception_ptr& problem, void* /*payload*/) {
    try {
        std::rethrow_exception(problem);
    } catch (const waybill::Error& error) {
        nb::object receipt = error.receipt() ? nb::cast(*error.receipt()) : nb::none();
        nb::object native = nb::none();
        if (error.native().layer != waybill::NativeCode::Layer::none) {
            native = nb::make_tuple(std::string(to_text(error.native().layer)), error.native().value, error.native().name);
        }
        nb::object exception = nb::module_::import_("waybill.errors")
                                   .attr("make_error")(std::string(to_text(error.code())), text_of(error.what()), native, receipt);
        PyErr_SetObject(exception.type().ptr(), exception.ptr());
    }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
    nb::register_exception_translator(translate);
}
