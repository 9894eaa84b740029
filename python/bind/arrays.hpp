// Requests as the package hands them over: addresses and sizes, already checked there.
#pragma once

#include "bind.hpp"

// Where one request's bytes are: pointer, capacity, file offset, size or None, offset into the memory, stream or None.
using Place = std::tuple<std::uintptr_t, std::uint64_t, std::uint64_t, std::optional<std::uint64_t>, std::uint64_t,
                         std::optional<std::uintptr_t>>;

waybill::Request request_of(const Place& place, const std::string& require);
