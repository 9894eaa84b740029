// Consign: from requests to a Consignment: check, ask facts, choose the route, plan, prepare the engine's side.
#pragma once

#include <memory>
#include <span>

#include "io/consignment.hpp"
#include "io/open_file.hpp"
#include "waybill/request.hpp"

namespace waybill {

// Both outlive the call.
struct FileAndRequest {
    OpenFile* file = nullptr;
    const Request* request = nullptr;
};

// Throws Error for whatever is wrong before the first byte moves. `requests` is not empty. Settings are the first file's.
[[nodiscard]] Consignment consign(Direction direction, std::span<const FileAndRequest> requests, const SettingValues& call,
                                  bool many);

}  // namespace waybill
