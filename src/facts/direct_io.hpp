// Whether a file can be opened with O_DIRECT, and the alignment that this wants.
#pragma once

#include "waybill/facts.hpp"

namespace waybill {

// Sets the three facts of `facts` by statx (STATX_DIOALIGN, Linux 6.1) and by trying the open. Live machine only.
void ask_direct_io(int fd, FileFacts& facts);

}  // namespace waybill
