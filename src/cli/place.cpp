#include "cli/place.hpp"

#include "waybill/buffer.hpp"

namespace waybill {

Place find_place(const std::optional<std::string>& text) {
    if (text) {
        return {find_device(*text), {}};
    }
    if (list_gpus().empty()) {
        return {-1, "no GPU can be used here, so the bytes went to host memory; --to gpu:0 tells why"};
    }
    return {0, {}};
}

}  // namespace waybill
