#include "support/Sha256.h"

namespace sprt {

namespace {

constexpr size_t kBlock = 64;

/// The first 32 bits of the fractional parts of the cube roots of the first 64
/// primes.
constexpr uint32_t kRounds[kBlock] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t turn(uint32_t value, int bits) {
  return (value >> bits) | (value << (32 - bits));
}

void addBlock(std::array<uint32_t, 8> &state, const uint8_t *block) {
  uint32_t words[kBlock];
  for (size_t i = 0; i < 16; ++i)
    words[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
               uint32_t(block[4 * i + 2]) << 8 | uint32_t(block[4 * i + 3]);
  for (size_t i = 16; i < kBlock; ++i) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] +
               (turn(a, 7) ^ turn(a, 18) ^ (a >> 3)) +
               (turn(b, 17) ^ turn(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < kBlock; ++i) {
    uint32_t first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                     ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    uint32_t second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                      ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  uint32_t more[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i)
    state[i] += more[i];
}

std::string textOf(const Digest &digest) {
  return {digest.begin(), digest.end()};
}

} // namespace

Digest sha256(const std::string &bytes) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::string padded = bytes + '\x80';
  padded.append((2 * kBlock - 8 - padded.size() % kBlock) % kBlock, '\0');
  uint64_t bits = uint64_t(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>(bits >> shift);
  for (size_t at = 0; at < padded.size(); at += kBlock)
    addBlock(state, reinterpret_cast<const uint8_t *>(padded.data()) + at);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  return digest;
}

Digest hmacSha256(const std::string &key, const std::string &bytes) {
  std::string inner = key.size() > kBlock ? textOf(sha256(key)) : key;
  inner.resize(kBlock, '\0');
  std::string outer = inner;
  for (size_t i = 0; i < kBlock; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  return sha256(outer + textOf(sha256(inner + bytes)));
}

bool equal(const Digest &a, const Digest &b) {
  uint8_t differs = 0;
  for (size_t i = 0; i < a.size(); ++i)
    differs |= a[i] ^ b[i];
  return differs == 0;
}

} // namespace sprt
