/// The words of Ptx.cuh for a CPU that runs a kernel's threads as fibers: the
/// same source then computes the same numbers, slowly, and what a GPU leaves
/// undefined becomes a fault or a wrong number (emulation/Block.h).
#ifndef SPRT_CUDA_PTXEMULATION_H
#define SPRT_CUDA_PTXEMULATION_H

#include "sprt/cuda/emulation/Block.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace sprt::ptx {

using cuda::emulation::BFloat16;
using cuda::emulation::Half;
using Emulated = cuda::emulation::Block;

inline Emulated &emulated() { return Emulated::current(); }

inline int thread() { return emulated().fibers.current(); }
inline int block() { return emulated().number; }
inline int blocks() { return emulated().launch.blocks; }

inline void namedSync(int id, int threads) {
  emulated().barriers.namedSync(id, threads);
}
inline void namedArrive(int id, int threads) {
  emulated().barriers.namedArrive(id, threads);
}
inline void syncBlock() { namedSync(0, emulated().launch.threads); }

template <int Count> void raiseRegisters() {
  emulated().registers.raise(Count);
}
template <int Count> void lowerRegisters() {
  emulated().registers.lower(Count);
}

inline void syncWarp() { emulated().shuffleXor(0, 0); }
inline int uniform(int number) { return number; }
template <class Number> Number shuffleXor(Number value, int lanes) {
  return static_cast<Number>(emulated().shuffleXor(value, lanes));
}

inline uint32_t sharedBase() { return Emulated::kBase; }
inline void barrierInit(uint32_t barrier, int count, const char *name,
                        int number) {
  emulated().barriers.initialise(barrier, count,
                                 name + (" " + std::to_string(number)));
}
inline void fenceBarriers() { emulated().barriers.fence(); }
inline void barrierExpect(uint32_t barrier, int bytes) {
  emulated().barriers.expect(barrier, bytes);
}
inline void barrierArrive(uint32_t barrier, bool condition = true) {
  if (condition)
    emulated().barriers.arrive(barrier);
}
inline void barrierWait(uint32_t barrier, uint32_t parity) {
  emulated().barriers.wait(barrier, parity);
}

inline void storeShared(uint32_t to, int first, int second) {
  int pair[] = {first, second};
  emulated().memory.store(to, pair, sizeof pair);
}
inline void loadShared(uint32_t from, int &first, int &second) {
  int pair[2];
  emulated().memory.load(from, pair, sizeof pair);
  first = pair[0];
  second = pair[1];
}

template <class Number> void storeNumber(uint32_t to, Number number) {
  emulated().memory.store(to, &number, sizeof number);
}
template <class Number> Number loadNumber(uint32_t from) {
  Number number;
  emulated().memory.load(from, &number, sizeof number);
  return number;
}

inline void copyIn(uint32_t to, const cuda::TensorMap &map, uint32_t barrier,
                   int inner, int row, int head, int batch) {
  emulated().copyIn(to, {map, inner, row, head, batch}, barrier);
}

inline void productFence() { emulated().warpgroup().fence(); }
inline void productCommit() { emulated().warpgroup().commit(); }
template <int Pending> void productWait() {
  emulated().warpgroup().wait(Pending);
}

template <class Element, int N> struct Product {
  static void begin(float (&sum)[N / 2], uint64_t a, uint64_t b) {
    emulated().warpgroup().begin(sum, N);
    add(sum, a, b);
  }
  static void add(float (&sum)[N / 2], uint64_t a, uint64_t b) {
    emulated().warpgroup().add<Element>(sum, N, a, nullptr, b, false);
  }
  static void add(float (&sum)[N / 2], const uint32_t (&a)[4], uint64_t b) {
    emulated().warpgroup().add<Element>(sum, N, 0, a, b, true);
  }
};

template <class Number> Number exp2(Number x) { return std::exp2(x); }
template <class Number> Number log2(Number x) { return std::log2(x); }
inline float reciprocal(float x) { return 1 / x; }
/// As wrong as the instruction may be, up or down by the bits of x.
inline float nearTanh(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = bits * 0x9E3779B1u >> 31;
  return std::tanh(x) * (1 + (bits ? 0x1p-11f : -0x1p-11f));
}
/// The number, where one of the two is NaN.
template <class Number> Number larger(Number x, Number y) {
  return std::fmax(x, y);
}
inline float multiplyAdd(float x, float y, float z) {
  return std::fma(x, y, z);
}
/// Rounded down; a product of two floats is a double.
inline float productBelow(float x, float y) {
  double product = double(x) * y;
  auto rounded = static_cast<float>(product);
  return rounded > product ? std::nextafter(rounded, -HUGE_VALF) : rounded;
}
inline float infinity() { return std::numeric_limits<float>::infinity(); }

template <class Number, class Element> Number number(Element element) {
  return static_cast<Number>(element);
}

template <class Element> uint32_t pack(float low, float high) {
  using cuda::emulation::toBits;
  return toBits<Element>(low) | uint32_t(toBits<Element>(high)) << 16;
}

template <class Element> Element loadConstant(const Element *from) {
  return *from;
}
/// Reads it: what is fetched must be there.
inline void prefetch(const void *from) {
  (void)*static_cast<const volatile char *>(from);
  ++emulated().prefetches;
}
inline int increment(int32_t *counter) {
  return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
inline void store(int32_t *to, int value) {
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
inline void loadPair(const float *from, float &first, float &second) {
  first = from[0];
  second = from[1];
}
template <class Element>
void storePair(Element *to, float first, float second) {
  to[0] = static_cast<Element>(first);
  to[1] = static_cast<Element>(second);
}

} // namespace sprt::ptx

#endif // SPRT_CUDA_PTXEMULATION_H
