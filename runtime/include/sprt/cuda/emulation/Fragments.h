/// How a warpgroup's registers and shared memory hold the matrices of a
/// product.
///
/// With w = warp, l = lane of thread 32 w + l:
///   sum i of a thread       row 16 w + l / 4 + (i & 2 ? 8 : 0),
///                           column 8 (i / 4) + 2 (l % 4) + (i & 1)
///   register i of factor a  row as above with i & 1, elements k, k + 1 from
///                           2 (l % 4) + (i & 2 ? 8 : 0), the first one low
#ifndef SPRT_CUDA_EMULATION_FRAGMENTS_H
#define SPRT_CUDA_EMULATION_FRAGMENTS_H

#include "sprt/cuda/emulation/Elements.h"
#include "sprt/cuda/emulation/SharedMemory.h"

#include <array>

namespace sprt::cuda::emulation {

/// An operand in shared memory, from its descriptor.
struct Operand {
  uint32_t address, panelBytes, groupBytes;

  explicit Operand(uint64_t descriptor)
      : address(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        panelBytes(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        groupBytes(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4) {
    if (descriptor >> 62 != 1 || (descriptor >> 49 & 7) != 0)
      throw Fault("expected a descriptor of memory swizzled as 128 bytes");
  }
  /// Element `along` of row `across`, products running along rows.
  uint32_t inRow(int across, int along) const {
    return swizzled(address + static_cast<uint32_t>(across / 8) * groupBytes +
                    static_cast<uint32_t>(across % 8 * 128 + along * 2));
  }
  /// The same where products run across rows: `across` counts along them.
  uint32_t inColumn(int across, int along) const {
    return swizzled(address + static_cast<uint32_t>(across / 64) * panelBytes +
                    static_cast<uint32_t>(along / 8) * groupBytes +
                    static_cast<uint32_t>(along % 8 * 128 + across % 64 * 2));
  }
};

/// The factors of sum[64][N] += a[64][16] · b[16][N].
struct Factors {
  static constexpr int kThreads = 128, kRows = 64, kDepth = 16;

  uint64_t aDescriptor, b;
  bool bInColumns;
  bool aInRegisters;
  std::array<const uint32_t *, kThreads> registers; ///< of a, by thread
};

/// Where sum i of a thread lies in row-major sums.
inline size_t placeOfSum(int thread, int i, int columns) {
  int row = thread / 32 * 16 + thread % 32 / 4 + (i & 2 ? 8 : 0);
  int column = 8 * (i / 4) + 2 * (thread % 4) + (i & 1);
  return static_cast<size_t>(row * columns + column);
}

template <class Element>
void loadFirst(const SharedMemory &memory, const Factors &factors,
               float (&a)[Factors::kRows][Factors::kDepth]) {
  if (!factors.aInRegisters) {
    Operand operand(factors.aDescriptor);
    for (int row = 0; row < Factors::kRows; ++row)
      for (int k = 0; k < Factors::kDepth; ++k)
        a[row][k] =
            fromBits<Element>(memory.asyncElement(operand.inRow(row, k)));
    return;
  }
  for (int thread = 0; thread < Factors::kThreads; ++thread)
    for (int i = 0; i < 8; ++i) {
      int row = thread / 32 * 16 + thread % 32 / 4 + (i & 2 ? 8 : 0);
      int k = 2 * (thread % 4) + (i & 4 ? 8 : 0) + (i & 1);
      uint32_t pair = factors.registers[static_cast<size_t>(thread)][i / 2];
      a[row][k] =
          fromBits<Element>(static_cast<uint16_t>(i & 1 ? pair >> 16 : pair));
    }
}

/// Adds a product to row-major sums.
template <class Element>
void multiply(const SharedMemory &memory, const Factors &factors, int columns,
              float *sums) {
  float a[Factors::kRows][Factors::kDepth];
  loadFirst<Element>(memory, factors, a);
  Operand operand(factors.b);
  std::vector<float> row(static_cast<size_t>(columns));
  for (int k = 0; k < Factors::kDepth; ++k) {
    for (int column = 0; column < columns; ++column)
      row[static_cast<size_t>(column)] = fromBits<Element>(
          memory.asyncElement(factors.bInColumns ? operand.inColumn(column, k)
                                                 : operand.inRow(column, k)));
    for (int i = 0; i < Factors::kRows; ++i)
      for (int column = 0; column < columns; ++column)
        sums[i * columns + column] +=
            a[i][k] * row[static_cast<size_t>(column)];
  }
}

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_FRAGMENTS_H
