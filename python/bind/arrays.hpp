// Requests as the package hands them over: addresses and sizes, already checked there.
#pragma once

#include "bind.hpp"

// pointer, capacity, file offset, size or None, offset into the memory
using Place = std::tuple<std::uintptr_t, std::uint64_t, std::uint64_t, std::optional<std::uint64_t>, std::uint64_t>;

waybill::Request request_of(const Place& place, bool read_only, const std::string& require, std::optional<std::uintptr_t> stream,
                            bool sync);
