// SHA-256, streamed: the check of bytes that a user can repeat with sha256sum.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace waybill {

class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    void add(const void* bytes, std::size_t size_bytes);
    // Lower-case hexadecimal; ends the stream.
    [[nodiscard]] std::string finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace waybill
