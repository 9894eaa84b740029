#include "arrays.hpp"

waybill::Request request_of(const Place& place, bool read_only, const std::string& require, std::optional<std::uintptr_t> stream,
                            bool sync) {
    const auto& [pointer, capacity, offset, size, target_offset] = place;
    waybill::Request request;
    request.file_offset = offset;
    request.size_bytes = size;
    request.target = {reinterpret_cast<void*>(pointer), capacity, {}, read_only};
    request.target_offset = target_offset;
    request.require = waybill::parse_require(require);
    if (stream) {
        request.stream = reinterpret_cast<void*>(*stream);
    }
    request.sync = sync;
    return request;
}
