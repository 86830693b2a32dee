/// The shared memory of one emulated block, as ordinary loads and stores see it
/// and as asynchronous units see it: those see no ordinary store.
#ifndef SPRT_CUDA_EMULATION_SHAREDMEMORY_H
#define SPRT_CUDA_EMULATION_SHAREDMEMORY_H

#include "sprt/cuda/TensorMap.h"
#include "sprt/cuda/emulation/Fibers.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace sprt::cuda::emulation {

/// The place of a byte in memory swizzled as 128 bytes: bits 4 to 6 of its
/// address are exchanged by bits 7 to 9.
inline uint32_t swizzled(uint32_t address) {
  return address ^ ((address >> 7 & 7) << 4);
}

class SharedMemory {
public:
  explicit SharedMemory(size_t bytes)
      : plain(bytes, kPoison), async(bytes, kPoison) {}

  void store(uint32_t address, const void *data, uint32_t bytes) {
    check(address, bytes);
    std::memcpy(&plain[address], data, bytes);
  }
  void load(uint32_t address, void *data, uint32_t bytes) const {
    check(address, bytes);
    std::memcpy(data, &plain[address], bytes);
  }

  /// Of asynchronous units.
  uint16_t asyncElement(uint32_t address) const {
    check(address, 2);
    uint16_t element;
    std::memcpy(&element, &async[address], 2);
    return element;
  }
  /// A copy may write from the moment it was issued: what is there is lost.
  void poison(uint32_t address, uint32_t bytes) {
    check(address, bytes);
    std::fill_n(plain.begin() + address, bytes, kPoison);
    std::fill_n(async.begin() + address, bytes, kPoison);
  }
  void asyncStore(uint32_t address, const void *data, uint32_t bytes) {
    check(address, bytes);
    std::memcpy(&plain[address], data, bytes);
    std::memcpy(&async[address], data, bytes);
  }

private:
  /// NaN in every 16-bit and 32-bit type.
  static constexpr unsigned char kPoison = 0xff;

  void check(uint32_t address, uint32_t bytes) const {
    if (uint64_t(address) + bytes > plain.size())
      throw Fault("expected an address in " + std::to_string(plain.size()) +
                  " bytes of shared memory but got " + std::to_string(address));
  }

  std::vector<unsigned char> plain, async;
};

/// A box of 16-bit elements in global memory, copied to shared memory.
class Box {
public:
  static constexpr int kInner = 64; ///< elements of a row: 128 bytes

  Box(const TensorMap &map, int inner, int row, int head, int batch)
      : inner(inner), row(row), head(head), batch(batch) {
    std::memcpy(&fields, &map, sizeof fields);
  }

  uint32_t bytes() const {
    return static_cast<uint32_t>(fields.boxRows) * kInner * 2;
  }

  void load(SharedMemory &memory, uint32_t to) const {
    for (int r = 0; r < fields.boxRows; ++r)
      for (int e = 0; e < kInner; ++e) {
        const char *from = element(r, e);
        uint16_t value = 0;
        if (from)
          std::memcpy(&value, from, 2);
        memory.asyncStore(place(to, r, e), &value, 2);
      }
  }

private:
  static uint32_t place(uint32_t base, int r, int e) {
    return swizzled(base + static_cast<uint32_t>(r * kInner + e) * 2);
  }
  /// Null outside the tensor.
  char *element(int r, int e) const {
    int64_t at[] = {inner + e, row + r, head, batch};
    for (int dim = 0; dim < TensorMapFields::kRank; ++dim)
      if (at[dim] < 0 || at[dim] >= fields.sizes[dim])
        return nullptr;
    return static_cast<char *>(fields.base) + at[0] * 2 +
           at[1] * fields.strides[0] + at[2] * fields.strides[1] +
           at[3] * fields.strides[2];
  }

  TensorMapFields fields;
  int inner, row, head, batch;
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_SHAREDMEMORY_H
