// Owner of a shared library that was loaded at run time. Never closed: drivers keep threads and exit handlers.
#pragma once

#include <string>

namespace waybill {

class Library {
public:
    Library() noexcept = default;
    // Loads `name` (a soname or a path) with all its symbols bound; empty on failure, with problem() saying why.
    // Throws Error io_error for want of a descriptor, which is of this moment: the library may well be there.
    [[nodiscard]] static Library load(const std::string& name);
    // The library when the process has it already; never loads.
    [[nodiscard]] static Library if_loaded(const std::string& name);

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    // Null when the library has no such symbol.
    [[nodiscard]] void* symbol(const char* name) const noexcept;
    // The path that the loader resolved; empty when unknown.
    [[nodiscard]] std::string path() const;

private:
    void* handle_ = nullptr;
    std::string problem_;
};

// How many objects the loader has ever added to this process: while it stays the same, what was not loaded is not loaded.
// Far cheaper than Library::if_loaded, which searches the file system for a library that is not there.
[[nodiscard]] unsigned long long loaded_objects() noexcept;

}  // namespace waybill
