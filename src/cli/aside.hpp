// Aside: what may never return, on a thread of its own.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/signals.hpp"
#include "cli/patience.hpp"

namespace waybill {

// True once a thread was left behind that may hold locks which the end of the program would wait for.
[[nodiscard]] bool is_anything_left_behind() noexcept;
void leave_behind() noexcept;

// The result of `function`, or what it throws; what Patience::check() throws where that ends first. Then the function goes on
// by itself, so it must own what it uses. `what` begins the sentence of a time-out.
template <class Function>
[[nodiscard]] auto aside(const Patience& patience, const std::string& what, Function function) {
    using Result = std::invoke_result_t<Function>;
    const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(function));
    std::future<Result> result = task->get_future();
    try {
        const BlockedSignals blocked;
        std::thread([task] { (*task)(); }).detach();
    } catch (const std::system_error&) {  // no thread can be had
        (*task)();
    }
    while (result.wait_for(Patience::kLook) != std::future_status::ready) {
        try {
            patience.check(what);
        } catch (...) {
            leave_behind();
            throw;
        }
    }
    return result.get();
}

}  // namespace waybill
