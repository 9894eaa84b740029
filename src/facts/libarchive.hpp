// The calls of libarchive that are used; declared by its own header, bound at run time like libmount.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>

namespace waybill {

struct Libarchive {
    decltype(&archive_read_new) read_new = nullptr;
    decltype(&archive_read_free) read_free = nullptr;
    decltype(&archive_read_support_filter_by_code) filter = nullptr;
    decltype(&archive_read_support_format_tar) tar = nullptr;
    decltype(&archive_read_open_filename) open = nullptr;
    decltype(&archive_read_next_header) next = nullptr;
    decltype(&archive_read_data) data = nullptr;
    decltype(&archive_error_string) problem_of = nullptr;
    decltype(&archive_errno) errno_of = nullptr;
    decltype(&archive_entry_pathname) pathname = nullptr;
    decltype(&archive_entry_filetype) filetype = nullptr;
    decltype(&archive_entry_size) size = nullptr;
    decltype(&archive_entry_symlink) symlink = nullptr;
    decltype(&archive_write_new) write_new = nullptr;
    decltype(&archive_write_free) write_free = nullptr;
    decltype(&archive_write_add_filter_gzip) gzip = nullptr;
    decltype(&archive_write_set_format_pax_restricted) pax = nullptr;
    decltype(&archive_write_open_filename) create = nullptr;
    decltype(&archive_write_header) header = nullptr;
    decltype(&archive_write_data) write = nullptr;
    decltype(&archive_write_close) close = nullptr;
    decltype(&archive_entry_new) entry_new = nullptr;
    decltype(&archive_entry_free) entry_free = nullptr;
    decltype(&archive_entry_set_pathname) set_pathname = nullptr;
    decltype(&archive_entry_set_filetype) set_filetype = nullptr;
    decltype(&archive_entry_set_perm) set_perm = nullptr;
    decltype(&archive_entry_set_size) set_size = nullptr;
    decltype(&archive_entry_set_symlink) set_symlink = nullptr;
    std::string problem;  // why none can be called; empty: all can

    Libarchive();
};

// Bound once. Throws Error bad_setting where there is none, for the archive at `path`.
[[nodiscard]] const Libarchive& libarchive(const std::string& path);

}  // namespace waybill
