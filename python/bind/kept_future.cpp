#include "kept_future.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "ended_watch.hpp"

namespace {

struct Orphan {
    waybill::Future future;
    nb::object keep;
};

// Never destroyed: at the process's end the kernel may still write to the memory of some. A forked child begins anew.
std::vector<Orphan>& orphans() {
    static std::vector<Orphan>* all = nullptr;
    static int process = 0;
    if (process != ::getpid()) {
        process = ::getpid();
        all = new std::vector<Orphan>();
    }
    return *all;
}

KeptFuture* alive = nullptr;

}  // namespace

KeptFuture::KeptFuture(waybill::Future future, nb::object keep)
    : future_(std::move(future)), keep_(std::move(keep)), process_(::getpid()), after_(alive) {
    if (alive != nullptr) {
        alive->before_ = this;
    }
    alive = this;
}

KeptFuture::~KeptFuture() {
    (before_ != nullptr ? before_->after_ : alive) = after_;
    if (after_ != nullptr) {
        after_->before_ = before_;
    }
    let_go();
}

void KeptFuture::let_go() noexcept {
    if (!future_.valid()) {
        return;
    }
    if (process_ != ::getpid()) {
        new waybill::Future(std::move(future_));
        keep_.release();
        return;
    }
    if (!future_.done()) {
        future_.cancel();
    }
    if (!future_.done()) {
        orphans().push_back({std::move(future_), std::move(keep_)});
        Released::arrays_wait = true;
        try {
            ended_watch::add(orphans().back().future.event_descriptor());
        } catch (const waybill::Error&) {  // no descriptor is left: the next call of the package sweeps
        }
    } else {
        keep_.reset();
    }
}

const waybill::Future& KeptFuture::future() const {
    if (process_ != ::getpid()) {
        throw waybill::Error(waybill::ErrorCode::invalid_argument,
                             "this request was begun before a fork: its bytes arrive in the parent's memory; read again in the child");
    }
    return future_;
}

bool KeptFuture::wait_for(double seconds) {
    const waybill::Future& request = future();
    ++waiting_;
    bool done = false;
    {
        const Released released;
        done = request.wait_for(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
    }
    --waiting_;
    return done;
}

waybill::Receipt KeptFuture::collect() {
    const waybill::Future& request = future();
    if (!request.done()) {
        ++waiting_;
        {
            const Released released;
            request.wait();
        }
        --waiting_;
    }
    const nb::object dropped = std::move(keep_);
    return request.get();
}

int KeptFuture::traverse(visitproc visit, void* arg) const {
    Py_VISIT(keep_.ptr());
    return 0;
}

std::size_t KeptFuture::sweep() noexcept {
    std::vector<Orphan> ended;
    std::vector<Orphan>& all = orphans();
    for (std::size_t k = 0; k < all.size();) {
        if (all[k].future.done()) {
            ended.push_back(std::move(all[k]));
            if (k + 1 != all.size()) {
                all[k] = std::move(all.back());
            }
            all.pop_back();
        } else {
            ++k;
        }
    }
    const std::size_t left = all.size();
    Released::arrays_wait = left != 0;
    ended.clear();  // runs Python code, which may come here again
    return left;
}

void Released::free_arrays() noexcept { static_cast<void>(KeptFuture::sweep()); }

void KeptFuture::end_all(double seconds) noexcept {
    ended_watch::end();
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const auto end = [&](const waybill::Future& future) {
        if (future.valid() && !future.done()) {
            future.cancel();
            const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now());
            if (left.count() > 0) {
                static_cast<void>(future.wait_for(left));
            }
        }
    };
    for (KeptFuture* kept = alive; kept != nullptr; kept = kept->after_) {
        if (kept->waiting_ == 0 && kept->process_ == ::getpid()) {
            end(kept->future_);
        }
    }
    for (const Orphan& orphan : orphans()) {
        end(orphan.future);
    }
}
