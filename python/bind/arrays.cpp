#include "arrays.hpp"

waybill::Request request_of(const Place& place, const std::string& require) {
    const auto& [pointer, capacity, offset, size, target_offset, stream] = place;
    waybill::Request request;
    request.file_offset = offset;
    request.size_bytes = size;
    request.target = {reinterpret_cast<void*>(pointer), capacity, {}, false};
    request.target_offset = target_offset;
    request.require = waybill::parse_require(require);
    if (stream) {
        request.stream = reinterpret_cast<void*>(*stream);
    }
    return request;
}
