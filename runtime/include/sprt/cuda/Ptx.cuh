/// The words in which attention kernels are written: one inline PTX instruction
/// each on a GPU, the same meaning on the CPU in emulation (PtxEmulation.h),
/// where the build defines SPRT_EMULATED.
///
/// Shared memory is addressed as PTX does, by 32-bit offsets into its window;
/// `sharedBase()` is the first of a block's, a multiple of 1024 bytes.
#ifndef SPRT_CUDA_PTX_CUH
#define SPRT_CUDA_PTX_CUH

#ifdef SPRT_EMULATED
#define SPRT_DEVICE inline
#define SPRT_UNROLL
#define SPRT_NO_UNROLL
#include "sprt/cuda/PtxEmulation.h"
#else
#define SPRT_DEVICE __device__ __forceinline__
#define SPRT_UNROLL _Pragma("unroll")
#define SPRT_NO_UNROLL _Pragma("unroll 1")

#include "sprt/cuda/TensorMap.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace sprt::ptx {

using BFloat16 = __nv_bfloat16;
using Half = __half;

// ---- Threads ---------------------------------------------------------------

/// Read anew by each call: a register is worth more than an instruction.
SPRT_DEVICE int thread() {
  int number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}
SPRT_DEVICE int block() { return static_cast<int>(blockIdx.x); }
SPRT_DEVICE int blocks() { return static_cast<int>(gridDim.x); }
SPRT_DEVICE void syncBlock() { __syncthreads(); }

/// Registers of each thread of this warpgroup from here on.
template <int Count> SPRT_DEVICE void raiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count> SPRT_DEVICE void lowerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

/// `threads` of the block, whole warps, meet at barrier `id`.
SPRT_DEVICE void namedSync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Is one of those threads without waiting for the others.
SPRT_DEVICE void namedArrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
SPRT_DEVICE void syncWarp() { __syncwarp(); }
/// The first lane's number, which the assembler then knows to be every lane's.
SPRT_DEVICE int uniform(int number) {
  return __shfl_sync(0xffffffffu, number, 0);
}
template <class Number> SPRT_DEVICE Number shuffleXor(Number value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}

// ---- Shared memory and its barriers ----------------------------------------

SPRT_DEVICE uint32_t sharedBase() {
  extern __shared__ __align__(1024) unsigned char window[];
  return static_cast<uint32_t>(__cvta_generic_to_shared(window));
}

/// A phase of the barrier ends when `count` arrivals and all expected bytes
/// have come. Initialise from one thread, then `fenceBarriers` and `syncBlock`.
/// Emulation calls it by its name and number.
SPRT_DEVICE void barrierInit(uint32_t barrier, int count, const char *, int) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(count)
               : "memory");
}
SPRT_DEVICE void fenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Expects `bytes` of copies in this phase and arrives.
SPRT_DEVICE void barrierExpect(uint32_t barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}
/// Arrives where `condition` holds, without a branch.
SPRT_DEVICE void barrierArrive(uint32_t barrier, bool condition = true) {
  asm volatile("{ .reg .pred p;\n"
               "setp.ne.u32 p, %1, 0;\n"
               "@p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(barrier),
               "r"(static_cast<uint32_t>(condition))
               : "memory");
}
/// Waits until the phase of this parity has ended. A new barrier is in phase 0,
/// and the phase before it counts as ended.
SPRT_DEVICE void barrierWait(uint32_t barrier, uint32_t parity) {
  asm volatile("{ .reg .pred p;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@p bra done;\n"
               "bra again;\n"
               "done: }" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

SPRT_DEVICE void storeShared(uint32_t to, int first, int second) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(first),
               "r"(second)
               : "memory");
}
SPRT_DEVICE void loadShared(uint32_t from, int &first, int &second) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(from));
}

/// A number of fp32 or fp64.
template <class Number>
SPRT_DEVICE void storeNumber(uint32_t to, Number number) {
  *static_cast<Number *>(__cvta_shared_to_generic(to)) = number;
}
template <class Number> SPRT_DEVICE Number loadNumber(uint32_t from) {
  return *static_cast<const Number *>(__cvta_shared_to_generic(from));
}

// ---- Asynchronous copies ---------------------------------------------------

/// Copies the box at (inner, row, head, batch) to shared memory; `barrier` is
/// told of its bytes when they are there.
SPRT_DEVICE void copyIn(uint32_t to, const cuda::TensorMap &map,
                        uint32_t barrier, int inner, int row, int head,
                        int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile"
      ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(
          to),
      "l"(&map), "r"(barrier), "r"(inner), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

// ---- Matrix products of a warpgroup ----------------------------------------

/// Registers written by this thread are seen by the products that follow.
SPRT_DEVICE void productFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Ends a group of products.
SPRT_DEVICE void productCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all but the last `Pending` groups.
template <int Pending> SPRT_DEVICE void productWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// sum[64][N] += a[64][16] · b[16][N], in fp32; a thread holds N/2 sums. Its
/// specialisations are generated with the kernels that use them:
///   begin(sum, a, b)   sum = a · b; both hold 16 contiguous elements a row
///   add(sum, a, b)     the same, added
///   add(sum, p, b)     a: registers of this thread; b: 16 rows of N elements
/// a and b in shared memory are descriptors (`operandRows`, `operandColumns`).
template <class Element, int N> struct Product;

// ---- Arithmetic ------------------------------------------------------------

SPRT_DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SPRT_DEVICE float log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SPRT_DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// Wrong by 2^-11 of what it gives at most.
SPRT_DEVICE float nearTanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SPRT_DEVICE float larger(float x, float y) { return fmaxf(x, y); }
/// x y + z, rounded once.
SPRT_DEVICE float multiplyAdd(float x, float y, float z) {
  return __fmaf_rn(x, y, z);
}
/// Rounded down.
SPRT_DEVICE float productBelow(float x, float y) { return __fmul_rd(x, y); }
SPRT_DEVICE double exp2(double x) { return ::exp2(x); }
SPRT_DEVICE double log2(double x) { return ::log2(x); }
SPRT_DEVICE double larger(double x, double y) { return fmax(x, y); }
SPRT_DEVICE float infinity() { return __int_as_float(0x7f800000); }

/// An element as a number of the arithmetic.
template <class Number, class Element>
SPRT_DEVICE Number number(Element element) {
  return static_cast<Number>(element);
}

/// Two numbers rounded to elements, `low` in the lower half.
template <class Element> SPRT_DEVICE uint32_t pack(float low, float high);
template <> SPRT_DEVICE uint32_t pack<BFloat16>(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
template <> SPRT_DEVICE uint32_t pack<Half>(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

// ---- Global memory ---------------------------------------------------------

/// What nobody writes while the kernel runs.
template <class Element> SPRT_DEVICE Element loadConstant(const Element *from) {
  return __ldg(from);
}
/// Into the cache that multiprocessors share.
SPRT_DEVICE void prefetch(const void *from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
/// What the counter was; others of the grid increment it too.
SPRT_DEVICE int increment(int32_t *counter) {
  int before;
  asm volatile("atom.global.add.s32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter));
  return before;
}
SPRT_DEVICE void store(int32_t *to, int value) { *to = value; }
SPRT_DEVICE void loadPair(const float *from, float &first, float &second) {
  float2 pair = *reinterpret_cast<const float2 *>(from);
  first = pair.x;
  second = pair.y;
}
SPRT_DEVICE void storePair(float *to, float first, float second) {
  *reinterpret_cast<float2 *>(to) = make_float2(first, second);
}
/// Rounded to elements.
template <class Element>
SPRT_DEVICE void storePair(Element *to, float first, float second) {
  *reinterpret_cast<uint32_t *>(to) = pack<Element>(first, second);
}

} // namespace sprt::ptx

#endif // SPRT_EMULATED

namespace sprt::ptx {

/// An operand of a product, in shared memory from `base` on, in panels of 64
/// elements by rows, swizzled as 128 bytes: rows in groups of 8 that lie 1024
/// bytes apart. Bytes are multiples of 16.
class Operand {
public:
  /// Products run along the elements of its rows.
  SPRT_DEVICE static Operand rows(uint32_t base, uint32_t bytes) {
    return Operand((base >> 4) + (bytes >> 4) + (1 << 16));
  }
  /// Products run along its rows; panels lie `panelBytes` apart.
  SPRT_DEVICE static Operand columns(uint32_t base, uint32_t bytes,
                                     uint32_t panelBytes) {
    return Operand((base >> 4) + (bytes >> 4) + (panelBytes >> 4 << 16));
  }
  /// The descriptor of what lies `bytes` on: the address is its lowest field,
  /// which no address of shared memory leaves.
  SPRT_DEVICE uint64_t at(uint32_t bytes) const {
    return static_cast<uint64_t>(kHigh) << 32 | (low + (bytes >> 4));
  }

private:
  SPRT_DEVICE explicit Operand(uint32_t low) : low(low) {}

  static constexpr uint32_t kHigh = 1024 >> 4 | 1 << 30;
  uint32_t low;
};

} // namespace sprt::ptx

#endif // SPRT_CUDA_PTX_CUH
