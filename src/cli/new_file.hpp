// A file that a command makes, and takes away again where it then puts nothing into it.
#pragma once

#include <string>

namespace waybill {

class NewFile {
public:
    NewFile() = default;
    // Makes `path` where there is nothing by that name; what is there is left as it is, then and later.
    explicit NewFile(const std::string& path);
    // Removes what it made, if that is still empty.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void keep() noexcept { path_.clear(); }

private:
    std::string path_;
};

}  // namespace waybill
