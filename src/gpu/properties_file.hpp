// PropertiesFile: the cufile.json that a libcufile, here or in a child process, is to read.
#pragma once

#include <optional>
#include <string>

#include "base/environment.hpp"

namespace waybill {

// While one lives, CUFILE_ENV_PATH_JSON names `json`; an empty one leaves the variable alone. What was named before comes back,
// unless it is kept.
class PropertiesFile {
public:
    explicit PropertiesFile(const std::string& json) : named_(!json.empty()) {
        if (named_) {
            before_ = exchange_process_variable(kVariable, json);
        }
    }
    ~PropertiesFile() {
        if (named_) {
            exchange_process_variable(kVariable, before_);
        }
    }
    PropertiesFile(const PropertiesFile&) = delete;
    PropertiesFile& operator=(const PropertiesFile&) = delete;
    void keep() noexcept { named_ = false; }

private:
    static constexpr const char* kVariable = "CUFILE_ENV_PATH_JSON";
    bool named_;
    std::optional<std::string> before_;
};

}  // namespace waybill
