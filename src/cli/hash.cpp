#include "cli/hash.hpp"

#include <openssl/evp.h>

#include "waybill/error.hpp"

namespace waybill {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(context); }
};

namespace {

// A policy of OpenSSL can refuse any of its calls.
void check(int answer, const char* call) {
    if (answer != 1) {
        throw Error(ErrorCode::internal, std::string("the SHA-256 cannot be computed: OpenSSL's ") + call + " failed");
    }
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
    check(state_->context != nullptr, "EVP_MD_CTX_new");
    check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr), "EVP_DigestInit_ex");
}

Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t size_bytes) {
    check(EVP_DigestUpdate(state_->context, bytes, size_bytes), "EVP_DigestUpdate");
}

std::string Sha256::finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size_bytes = 0;
    check(EVP_DigestFinal_ex(state_->context, digest, &size_bytes), "EVP_DigestFinal_ex");
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size_bytes; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

}  // namespace waybill
