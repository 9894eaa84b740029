#include <cstdlib>
#include <map>

#include "fake.hpp"

namespace fake {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool is_set(const char* variable) { return number_of(variable, 0) != 0; }

namespace {

std::uint64_t next_call(const char* variable) {
    static std::mutex& mutex = *new std::mutex();
    static auto& calls = *new std::map<std::string, std::uint64_t>();
    const std::lock_guard lock(mutex);
    return ++calls[variable];
}

}  // namespace

int fault_of(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') {
        return 0;
    }
    char* end = nullptr;
    const int code = static_cast<int>(std::strtol(text, &end, 10));
    const std::uint64_t after = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 0;
    return next_call(variable) > after ? code : 0;
}

bool every_nth(const char* variable) {
    const std::uint64_t n = number_of(variable, 0);
    return n != 0 && next_call(variable) % n == 0;
}

Status success() { return is_set("FAKE_CUFILE_BAD_CU_ERR") ? Status{0, 801} : Status{}; }

}  // namespace fake
