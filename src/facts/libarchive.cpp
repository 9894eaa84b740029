#include "facts/libarchive.hpp"

#include <type_traits>

#include <fmt/format.h>

#include "base/library.hpp"
#include "waybill/error.hpp"

namespace waybill {

Libarchive::Libarchive() {
    const Library library = Library::load("libarchive.so.13");
    problem = library.problem();
    const auto bind = [&](auto& slot, const char* name) {
        slot = reinterpret_cast<std::decay_t<decltype(slot)>>(library.symbol(name));
        if (slot == nullptr && problem.empty()) {
            problem = std::string("libarchive has no ") + name;
        }
    };
    bind(read_new, "archive_read_new");
    bind(read_free, "archive_read_free");
    bind(filter, "archive_read_support_filter_by_code");
    bind(tar, "archive_read_support_format_tar");
    bind(open, "archive_read_open_filename");
    bind(next, "archive_read_next_header");
    bind(data, "archive_read_data");
    bind(problem_of, "archive_error_string");
    bind(errno_of, "archive_errno");
    bind(pathname, "archive_entry_pathname");
    bind(filetype, "archive_entry_filetype");
    bind(size, "archive_entry_size");
    bind(symlink, "archive_entry_symlink");
    bind(write_new, "archive_write_new");
    bind(write_free, "archive_write_free");
    bind(gzip, "archive_write_add_filter_gzip");
    bind(pax, "archive_write_set_format_pax_restricted");
    bind(create, "archive_write_open_filename");
    bind(header, "archive_write_header");
    bind(write, "archive_write_data");
    bind(close, "archive_write_close");
    bind(entry_new, "archive_entry_new");
    bind(entry_free, "archive_entry_free");
    bind(set_pathname, "archive_entry_set_pathname");
    bind(set_filetype, "archive_entry_set_filetype");
    bind(set_perm, "archive_entry_set_perm");
    bind(set_size, "archive_entry_set_size");
    bind(set_symlink, "archive_entry_set_symlink");
}

const Libarchive& libarchive(const std::string& path) {
    static const auto& library = *new Libarchive();
    if (!library.problem.empty()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("'{}': archives need libarchive, and {}; install libarchive13, or take a folder (--save with a / at its end)", path,
                                library.problem));
    }
    return library;
}

}  // namespace waybill
