// The commands: each takes its arguments, prints, and returns the exit code. They throw Error for what main prints.
#pragma once

#include "cli/arguments.hpp"

namespace waybill {

int run_read(const ReadArguments& arguments);
int run_write(const WriteArguments& arguments);
int run_plan(const PlanArguments& arguments);
int run_check(const CheckArguments& arguments);
int run_stats(const StatsArguments& arguments);
int run_bench(const BenchArguments& arguments);
int run_config(const ConfigArguments& arguments);
int run_version(const VersionArguments& arguments);

}  // namespace waybill
