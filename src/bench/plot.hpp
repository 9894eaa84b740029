// A bench's report as a picture, drawn by gnuplot.
#pragma once

#include <string>

#include "bench/bench.hpp"

namespace waybill {

// The commands and data for gnuplot that draw `name`.svg and `name`.png: GB/s over the size of a request, a line for each path,
// and the ceilings. Pure.
[[nodiscard]] std::string plot_script(const BenchReport& report, const std::string& name);

// Throws Error invalid_argument where there is no gnuplot.
void check_plotter();

// Runs gnuplot. Throws Error io_error when it fails.
void draw_plot(const BenchReport& report, const std::string& name);

}  // namespace waybill
