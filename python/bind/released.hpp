// Released: the GIL, let go while C++ works or waits.
#pragma once

#include <nanobind/nanobind.h>

#include <unistd.h>

// As nanobind's gil_scoped_release, but for threads that the interpreter's end overtakes: taking the GIL then ends the thread
// by unwinding it (Python before 3.14), which no destructor survives. Such a thread stays here until the process is gone.
class Released {
public:
    Released() noexcept : state_(save()) {}
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

    // Arrays of dropped requests wait to be freed (kept_future.hpp): nearly every call of the package comes by here, and sees to it.
    inline static bool arrays_wait = false;

private:
    static void free_arrays() noexcept;
    static PyThreadState* save() noexcept {
        if (arrays_wait) {
            free_arrays();
        }
        return PyEval_SaveThread();
    }
    PyThreadState* state_;
};
