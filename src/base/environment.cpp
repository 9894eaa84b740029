#include "base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "base/forks.hpp"

namespace waybill {
namespace {

std::mutex environment_mutex;

}  // namespace

Environment process_environment() {
    const ForkHold hold;
    const std::lock_guard lock(environment_mutex);
    Environment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string_view::npos) {
            environment.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return environment;
}

std::string environment_entries(std::initializer_list<std::string_view> starts) {
    const ForkHold hold;
    const std::lock_guard lock(environment_mutex);
    std::string entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return text.starts_with(start); })) {
            entries.append(text).push_back('\0');
        }
    }
    return entries;
}

const std::string* find_variable(const Environment& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : &found->second;
}

std::optional<std::string> exchange_process_variable(const std::string& name, const std::optional<std::string>& value) {
    const ForkHold hold;
    const std::lock_guard lock(environment_mutex);
    const char* const now = std::getenv(name.c_str());
    std::optional<std::string> before = now != nullptr ? std::optional<std::string>(now) : std::nullopt;
    if (before != value) {
        value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
    return before;
}

}  // namespace waybill
