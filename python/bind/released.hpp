// Released: the GIL, let go while C++ works or waits.
#pragma once

#include <nanobind/nanobind.h>

#include <unistd.h>

// As nanobind's gil_scoped_release, but for threads that the interpreter's end overtakes: taking the GIL then ends the thread
// by unwinding it (Python before 3.14), which no destructor survives. Such a thread stays here until the process is gone.
class Released {
public:
    Released() noexcept : state_(PyEval_SaveThread()) {}
    ~Released() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) {
                ::pause();
            }
        }
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    PyThreadState* state_;
};
