// Consignment: all that is decided of one call's bytes before the first of them moves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "evidence/window.hpp"
#include "io/descriptors.hpp"
#include "io/units.hpp"
#include "waybill/receipt.hpp"
#include "waybill/request.hpp"

namespace waybill {

// What requests have in common that follow one another and are of one file.
struct PartFile {
    std::shared_ptr<Descriptors> descriptors;  // let go when the transfer is done
    std::shared_ptr<const std::string> name;
    EngineFile engine;
};

// One request of a transfer. There can be very many of one transfer: what they share stands elsewhere.
struct Part {
    PartFile* file = nullptr;  // in Consignment::files
    Work work;
    std::uint64_t asked_bytes = 0;
    std::uint64_t size_bytes = 0;    // what there is of it
    bool is_sparse = false;          // a read of a file that takes less storage than its size
    bool likely_cached = true;       // whole, as far as its file was looked at
    std::uint64_t lost_bytes = 0;    // of its end: the file was truncated while it was read
    std::uint64_t first_unit = 0;
    std::uint64_t first_byte = 0;    // in the transfer: parts follow one another
    Units units{0, 1, 1};
};

// What set-up has cost this process so far; differences tell what one request was the first to need.
struct SetupCosts {
    std::uint64_t pin_ns = 0;
    std::uint64_t cufile_open_ns = 0;
    std::uint64_t pin_refusals = 0;  // times that memory could not be pinned
    [[nodiscard]] static SetupCosts now();
};

// It moves, and is never copied: parts point into it.
struct Consignment {
    Consignment() = default;
    Consignment(Consignment&&) = default;
    Consignment& operator=(Consignment&&) = default;

    std::shared_ptr<const Settings> settings;
    std::shared_ptr<const Route> route;
    Plan plan;
    Direction direction = Direction::read;
    Require require = Require::none;
    Lading lading;
    Destination destination;
    std::vector<PartFile> files;  // never grows once parts refer to them
    std::vector<Part> parts;
    std::vector<std::shared_ptr<void>> owners;  // of the memory
    std::uint64_t threads = 1;
    std::uint64_t units_per_claim = 1;  // small ones are moved several at once
    std::uint64_t open_ns = 0;
    std::uint64_t start_ns = 0;
    SetupCosts setup_before;
    CountersWanted counters;
    std::string gpu_uuid;
    std::optional<Residency> residency;
    std::vector<std::string> notes;
    bool many = false;
    bool sync = false;
};

// What is left of the time limit of the request, at least 1; 0 where it has none.
[[nodiscard]] std::uint64_t rest_of_limit_ns(const Consignment& consignment) noexcept;

// Numbers the units and bytes of all parts; returns how many units there are.
std::uint64_t lay_out_units(std::vector<Part>& parts) noexcept;

// The part that a unit belongs to.
[[nodiscard]] const Part& part_of(const std::vector<Part>& parts, std::uint64_t unit) noexcept;
// The part that an assignment is of.
[[nodiscard]] const Part& part_of(const std::vector<Part>& parts, const Assignment& assignment) noexcept;

}  // namespace waybill
