#include "facts/scrub.hpp"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <regex>
#include <vector>

#include "base/text.hpp"

namespace waybill {
namespace {

// Names that identify nobody, and that files of the system mean something by.
bool is_everyones(const std::string& word) {
    constexpr std::string_view kWords[] = {"localhost", "localdomain", "host", "user", "root", "nobody", "admin", "linux", "debian", "ubuntu",
                                           "fedora", "centos", "rocky", "nvidia", "gpu", "cuda", "nvme", "data", "none", "proc", "sys", "dev"};
    return word.size() < 2 || std::find(std::begin(kWords), std::end(kWords), lower(word)) != std::end(kWords);
}

void add_word(Secrets& secrets, const std::string& word, const char* with) {
    if (!is_everyones(word)) {
        secrets.words.emplace(word, with);
    }
}

bool is_word_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

void replace_word(std::string& text, const std::string& word, const std::string& with) {
    std::string letters = lower(text);
    const std::string wanted = lower(word);
    for (auto at = letters.find(wanted); at != std::string::npos;) {
        const bool whole = (at == 0 || !is_word_letter(text[at - 1])) &&
                           (at + word.size() == text.size() || !is_word_letter(text[at + word.size()]));
        if (whole) {
            text.replace(at, word.size(), with);
            letters.replace(at, word.size(), with);
        }
        at = letters.find(wanted, at + (whole ? with.size() : 1));
    }
}

// A name may be a part of another (alice, alice-pc).
void replace_words(std::string& text, const Secrets& secrets) {
    std::vector<std::pair<std::string, std::string>> words(secrets.words.begin(), secrets.words.end());
    std::stable_sort(words.begin(), words.end(), [](const auto& one, const auto& other) { return one.first.size() > other.first.size(); });
    for (const auto& [word, with] : words) {
        replace_word(text, word, with);
    }
}

// A pattern, compiled once, and what stands for it.
struct Rule {
    Rule(const char* text, const char* replacement) : pattern(text, std::regex::optimize), with(replacement) {}
    std::regex pattern;
    const char* with;
};

std::string replaced(std::string text, const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
        text = std::regex_replace(text, rule.pattern, rule.with);
    }
    return text;
}

// Networks that are nobody's own (RFC 1918, 6598, 3927): a version hardly begins so.
bool is_private_network(const std::vector<int>& parts) {
    return parts[0] == 10 || (parts[0] == 172 && parts[1] >= 16 && parts[1] < 32) || (parts[0] == 192 && parts[1] == 168) ||
           (parts[0] == 100 && parts[1] >= 64 && parts[1] < 128) || (parts[0] == 169 && parts[1] == 254);
}

std::vector<int> parts_of(const std::string& quad) {
    std::vector<int> parts;
    for (const std::string_view part : split(quad, '.')) {
        int number = 256;
        std::from_chars(part.data(), part.data() + part.size(), number);
        parts.push_back(part.size() > 1 && part.front() == '0' ? 256 : number);
    }
    return parts;
}

// Four numbers are an address or a version; what stands around them tells: libcufile.so.1.15.1.6, ofed-5.4-1.0.3.0, "GDS Version:
// 1.11.1.6", /opt/gds/1.15.1.6/lib. In doubt it is an address.
bool is_version(const std::string& before, const std::string& quad, char after) {
    const std::vector<int> parts = parts_of(quad);
    if (std::any_of(parts.begin(), parts.end(), [](int part) { return part > 255; })) {
        return true;
    }
    static const std::regex named("(version|release|revision|driver|module|firmware|build)[\"']?\\s*[:=]?\\s*[\"'(]*v?$", std::regex::icase);
    static const std::regex library("\\.so[.0-9]*\\.$");
    if (std::regex_search(before, library) || std::regex_search(before, named)) {
        return true;
    }
    const char last = before.empty() ? ' ' : before.back();
    const bool joined = is_word_letter(last) || last == '-' || last == '.' || last == '+' || last == '~';
    const bool folder = last == '/' && !before.ends_with("//") && (after == '/' || after == '\0' || after == '\n' || after == '"' || after == ' ');
    return (joined || folder) && !is_private_network(parts);
}

std::string without_addresses(const std::string& text) {
    static const std::regex four("[0-9]{1,3}(\\.[0-9]{1,3}){3}(?![0-9])", std::regex::optimize);
    constexpr std::ptrdiff_t kContext = 48;
    std::string kept;
    auto done = text.begin();
    for (auto found = std::sregex_iterator(text.begin(), text.end(), four); found != std::sregex_iterator(); ++found) {
        const auto begin = text.begin() + found->position();
        const auto end = begin + found->length();
        const bool inside = begin != text.begin() && std::isdigit(static_cast<unsigned char>(begin[-1])) != 0;
        const bool longer = end != text.end() && *end == '.' && end + 1 != text.end() && std::isdigit(static_cast<unsigned char>(end[1])) != 0;
        const std::string before(std::max(text.begin(), begin - std::min(kContext, begin - text.begin())), begin);
        kept.append(done, begin);
        const bool stays = inside || longer || is_version(before.substr(before.rfind('\n') + 1), found->str(), end == text.end() ? '\0' : *end);
        kept += stays ? found->str() : "192.0.2.1";
        done = end;
    }
    return kept.append(done, text.end());
}

}  // namespace

Secrets Secrets::of_this_machine() {
    Secrets secrets;
    utsname names{};
    if (::uname(&names) == 0) {
        const std::string name = names.nodename;
        add_word(secrets, name, "host");
        add_word(secrets, name.substr(0, name.find('.')), "host");
        if (std::string_view(names.domainname) != "(none)") {
            add_word(secrets, names.domainname, "domain");
        }
    }
    for (const char* variable : {"USER", "LOGNAME", "SUDO_USER"}) {
        const char* name = std::getenv(variable);
        add_word(secrets, name != nullptr ? name : "", "user");
    }
    if (const passwd* account = ::getpwuid(::getuid()); account != nullptr) {
        add_word(secrets, account->pw_name, "user");
    }
    return secrets;
}

std::string scrub(std::string text, const Secrets& secrets) {
    static const std::vector<Rule> before_addresses{
        {"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "00000000-0000-0000-0000-000000000000"},
        {"\\b[0-9a-fA-F]{8}(:[0-9a-fA-F]{8}){3}\\b", "00000000:00000000:00000000:00000000"},  // of an md array
        {"\\b[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}\\b", "00:00:00:00:00:00"},
        {"\\b[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}\\b(?!:)", "0000:0000:0000:0000"},  // of an InfiniBand port
    };
    static const std::vector<Rule> after_addresses{
        {"\\b[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}\\b|\\b[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*::[0-9a-fA-F:]*", "2001:db8::1"},
        {"\\b[0-9a-f]{32,}\\b", "0"},
        // Names that hold serials: of disks by udev, and of the identifiers that NVMe and SCSI give.
        {"(/disk/by-(id|label|partlabel)/)[^ ,\"\n]+", "$1x"},
        {"\\b(eui|naa|t10|wwn|nvme)([.-])(0x)?[0-9a-fA-F]{4}[0-9a-fA-F-]{8,}", "$1$2x"},
        {"\\b((PART)?UUID|ID_SERIAL(_SHORT)?|ID_WWN|serial|wwid)=[^ ,\"\n]+", "$1=x"},
        // Servers and accounts in the table of mounts: "- nfs4 filer:/export", "- cifs //filer/share rw,username=...".
        {"( - [a-z0-9_.]+ )[^ /]+:/", "$1server:/"},
        {"( - [a-z0-9_.]+ )//[^/ ]+", "$1//server"},
        {"\\b(username|user|domain|mountaddr|credentials)=[^ ,\n]+", "$1=x"},
        {"/home/[^/ ,\"\n]+", "/home/user"},
    };
    replace_words(text, secrets);
    return replaced(without_addresses(replaced(std::move(text), before_addresses)), after_addresses);
}

}  // namespace waybill
