// Joining: one receipt of requests that were one write to its caller, and followed one another in one file. Pure.
#pragma once

#include "waybill/receipt.hpp"

namespace waybill {

// Makes `whole` the receipt of what it tells and of `next`, which began where that ended: totals, and a judgement of them all.
// As with many requests of one call, pieces are not told. File, offset, settings and reasons stay those of the first; the good
// ranges are counted from its first byte. Times are sums: what passed between the requests is in none of them.
void join(Receipt& whole, const Receipt& next);

// Makes `whole` the receipt of a failure by `error` after all that it tells, which its caller knows to be good; `asked_bytes`
// where more was asked for than the receipt knows of.
void end_by_error(Receipt& whole, const Error& error, std::uint64_t asked_bytes);

}  // namespace waybill
