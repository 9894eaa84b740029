// Leftover: a file or folder of ours that must be gone when it has done its work, however the program ends.
//
// The library installs no handlers of signals. It only knows what there is to remove; a program that ends by a signal that it
// has caught asks for that (cli/end.hpp).
#pragma once

#include <functional>
#include <string>

namespace waybill {

class Leftover {
public:
    Leftover() noexcept = default;
    enum class Kind { file, folder };
    // `make` makes it and returns its path, empty where it could not; nothing is removed in between.
    Leftover(Kind kind, const std::function<std::string()>& make);
    ~Leftover();  // removes it, a folder with all that is in it
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    void keep() noexcept;  // it has become what was wanted, perhaps under another name

private:
    Kind kind_ = Kind::file;
    std::string path_;
};

// Removes all of them, and lets no other thread make another: the process ends now.
void remove_leftovers_for_good() noexcept;

}  // namespace waybill
