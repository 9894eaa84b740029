// Taking out of texts and names what tells whose machine it was: host and user names, addresses, serials and identifiers.
#pragma once

#include <map>
#include <string>

namespace waybill {

// Words that must not leave the machine, and what stands for them.
struct Secrets {
    std::map<std::string, std::string> words;  // host and user names, in any case of their letters; longer ones go first
    [[nodiscard]] static Secrets of_this_machine();
};

// The text without them; versions stay, however many parts they have. The same for contents, names of files and targets of
// links, so that what refers to one another still does. Scrubbing twice changes nothing more. Pure.
[[nodiscard]] std::string scrub(std::string text, const Secrets& secrets);

}  // namespace waybill
