#include "cli/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "waybill/error.hpp"

namespace waybill {

NewFile::NewFile(const std::string& path) {
    const Fd made = open_descriptor(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK, 0666);
    if (made) {
        path_ = path;
    } else if (errno != EEXIST) {
        throw_if_out_of_descriptors(errno, path);
        throw Error(errno == EACCES ? ErrorCode::permission_denied : ErrorCode::io_error, "cannot make '" + path + "'",
                    native_errno(errno));
    }
}

NewFile::~NewFile() {
    struct stat state {};
    if (!path_.empty() && ::stat(path_.c_str(), &state) == 0 && state.st_size == 0) {
        ::unlink(path_.c_str());
    }
}

}  // namespace waybill
