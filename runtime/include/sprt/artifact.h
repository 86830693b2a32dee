/// The outer form of model.spx, shared by the compiler that writes it and the
/// runtime that loads it.
///
///     ELF shared object | zero padding to a multiple of 32 | trailer (32
///     bytes)
///
/// The object defines, with default visibility,
///   sprt_plan        the FlatBuffers plan, 16-byte aligned bytes
///   sprt_plan_size   uint64_t, its length
///   sprt_signatures  what every kernel touches: plan.fbs' table Signatures
///   with
///                    its size before it, 16-byte aligned bytes
///   sprt_constants   constant data, 64-byte aligned; absent when there is none
/// and one function per kernel of the plan (sprt/kernel.h). Of a plan for GPUs
/// it defines every image instead, as data under the image's symbol, and host
/// functions only where it can be emulated (sprt/cuda/Emulated.h). The
/// trailer's hash covers every byte before the trailer, so that a damaged or
/// truncated file is found before any of its code is mapped.
#ifndef SPRT_ARTIFACT_H
#define SPRT_ARTIFACT_H

#include "sprt/types.h"

#include <cstring>

namespace sprt {

struct ArtifactTrailer {
  char magic[8]; ///< "SPXTRAIL"
  uint32_t abiVersion;
  uint32_t reserved; ///< 0
  uint64_t contentBytes;
  uint64_t contentHash;
};
static_assert(sizeof(ArtifactTrailer) == 32, "the trailer is a file format");

inline constexpr char kTrailerMagic[8] = {'S', 'P', 'X', 'T',
                                          'R', 'A', 'I', 'L'};
inline constexpr const char *kPlanSymbol = "sprt_plan";
inline constexpr const char *kPlanSizeSymbol = "sprt_plan_size";
inline constexpr const char *kSignaturesSymbol = "sprt_signatures";
inline constexpr const char *kConstantsSymbol = "sprt_constants";

/// XXH64 with seed 0 (llvm::xxHash64 gives the same).
inline uint64_t contentHash(const void *data, size_t size) {
  constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F,
                     p3 = 0x165667B19E3779F9, p4 = 0x85EBCA77C2B2AE63,
                     p5 = 0x27D4EB2F165667C5;
  auto rotate = [](uint64_t x, int by) { return (x << by) | (x >> (64 - by)); };
  auto read64 = [](const unsigned char *at) {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  auto round = [&](uint64_t lane, uint64_t value) {
    return rotate(lane + value * p2, 31) * p1;
  };

  const unsigned char *at = static_cast<const unsigned char *>(data);
  const unsigned char *end = at + size;
  uint64_t hash = p5;
  if (size >= 32) {
    uint64_t lanes[4] = {p1 + p2, p2, 0, 0 - p1};
    for (; end - at >= 32; at += 32)
      for (int lane = 0; lane < 4; ++lane)
        lanes[lane] = round(lanes[lane], read64(at + 8 * lane));
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
           rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ round(0, lane)) * p1 + p4;
  }
  hash += size;
  for (; end - at >= 8; at += 8)
    hash = rotate(hash ^ round(0, read64(at)), 27) * p1 + p4;
  if (end - at >= 4) {
    uint32_t value;
    std::memcpy(&value, at, sizeof value);
    hash = rotate(hash ^ value * p1, 23) * p2 + p3;
    at += 4;
  }
  for (; at < end; ++at)
    hash = rotate(hash ^ *at * p5, 11) * p1;
  hash = (hash ^ (hash >> 33)) * p2;
  hash = (hash ^ (hash >> 29)) * p3;
  return hash ^ (hash >> 32);
}

/// The trailer for `size` bytes of content, whose length is a multiple of 32.
inline ArtifactTrailer makeTrailer(const void *content, size_t size) {
  ArtifactTrailer trailer = {};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof trailer.magic);
  trailer.abiVersion = SPRT_ABI_VERSION;
  trailer.contentBytes = size;
  trailer.contentHash = contentHash(content, size);
  return trailer;
}

} // namespace sprt

#endif // SPRT_ARTIFACT_H
