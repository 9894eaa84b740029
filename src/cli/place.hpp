// Places of memory on the command line, as find_device() reads them.
#pragma once

#include <optional>
#include <string>

#include "cli/patience.hpp"

namespace waybill {

struct Place {
    int device = -1;   // CUDA's ordinal; -1 for the host
    std::string note;  // why it is not the GPU that was meant by default
};

// `text` absent: the first GPU, or the host with a note where there is none. Initialises CUDA where it must be asked.
// Throws Error invalid_argument, no_gpu.
[[nodiscard]] Place find_place(const std::optional<std::string>& text);

// The same, with CUDA's start and the GPU's context behind it where the place is a GPU's. Throws as Patience::check()
// too: a start that hangs is left behind.
[[nodiscard]] Place start_place(const std::optional<std::string>& text, const Patience& patience);

}  // namespace waybill
