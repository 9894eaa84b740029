#include "cli/place.hpp"

#include "cli/aside.hpp"
#include "gpu/cuda.hpp"
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

Place start_place(const std::optional<std::string>& text, const Patience& patience) {
    return aside(patience, "starting CUDA (cuInit, cuDevicePrimaryCtxRetain)", [text] {
        const Place place = find_place(text);
        if (place.device >= 0) {
            (void)primary_context(place.device);
        }
        return place;
    });
}

}  // namespace waybill
