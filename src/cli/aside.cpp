#include "cli/aside.hpp"

#include <atomic>

namespace waybill {
namespace {

std::atomic<bool> left_behind{false};

}  // namespace

bool is_anything_left_behind() noexcept { return left_behind.load(); }
void leave_behind() noexcept { left_behind.store(true); }

}  // namespace waybill
