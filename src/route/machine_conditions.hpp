// What must hold of the machine, the GPU and cuFile, whatever the file. Pure; see conditions.cpp for their order.
#pragma once

#include "route/conditions.hpp"

namespace waybill {

Answer gpu_present(const Subject& subject);
Answer gpu_driver(const Subject& subject);
Answer gpu_class(const Subject& subject);
Answer not_wsl(const Subject& subject);

Answer cufile_library(const Subject& subject);
Answer cufile_dependencies(const Subject& subject);
Answer json_valid(const Subject& subject);
Answer json_values(const Subject& subject);
Answer modules_readable(const Subject& subject);
Answer not_forced(const Subject& subject);

Answer nvidia_fs_loaded(const Subject& subject);
Answer nvidia_fs_nodes(const Subject& subject);
Answer nvidia_fs_good(const Subject& subject);

Answer p2pdma_kernel(const Subject& subject);
Answer p2pdma_driver(const Subject& subject);
Answer p2pdma_multipath(const Subject& subject);

}  // namespace waybill
