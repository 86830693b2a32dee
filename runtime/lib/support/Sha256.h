/// SHA-256 (FIPS 180-4), and HMAC (RFC 2104) with it.
#ifndef SPRT_LIB_SUPPORT_SHA256_H
#define SPRT_LIB_SUPPORT_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sprt {

using Digest = std::array<uint8_t, 32>;

Digest sha256(const std::string &bytes);
Digest hmacSha256(const std::string &key, const std::string &bytes);

/// In a time that does not tell where they differ.
bool equal(const Digest &a, const Digest &b);

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_SHA256_H
