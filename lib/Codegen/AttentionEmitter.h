/// What the parts of the attention generator share: the compile-time shape of a
/// kernel, and a thin layer over the op builders for scalar, vector and pointer
/// code in one compute type.
#ifndef SP_LIB_CODEGEN_ATTENTIONEMITTER_H
#define SP_LIB_CODEGEN_ATTENTIONEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "sp/Codegen/AttentionKernel.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::sp::attention {

constexpr int64_t kLineBytes = 64; ///< of a cache line

/// Sizes fixed when a kernel is generated. A panel is two vectors of queries; a
/// tile is what the registers hold: `tile` keys (or value columns) x one panel.
/// Inner sizes are padded with zeros, which add nothing to a dot product.
///
/// What contractions read is packed in words of the compute type's width: an
/// element, or where the machine multiplies pairs of bf16, a pair that
/// successive steps would take: of the head size in queries and keys, of keys
/// in values and powers.
struct Shape {
  explicit Shape(const AttentionKernelConfig &config);
  /// Steps of a contraction over the head size.
  int64_t headSteps() const;

  int64_t headSize, valueSize;
  int64_t elementBytes; ///< of the compute type, f32 or f64
  int64_t lanes, panel; ///< queries in a vector, in a panel
  int64_t tile;         ///< keys or value columns in a register tile
  int64_t unroll = 4;   ///< steps of a contraction per loop iteration
  int64_t pair;         ///< elements in a word: 1 or 2
  int64_t signs;        ///< bits of a word that are signs
  int64_t headWords;    ///< headSize in words, to whole vectors
  int64_t valuePad;     ///< valueSize, to whole vectors
  int64_t queryBlock, keyBlock, panels;
  bool hasOwnBlock; ///< another queryBlock than a long launch would have
  int64_t stripe;   ///< words from a stripe of values to the next

  /// Byte offsets in the scratch memory.
  ///   queries [panel][headWords][lane] Q with the scale's sign, transposed
  ///   output  [panel][valuePad][lane] O, transposed, not normalised
  ///   rowMax, rowSum, rowState [panel][lane]  m (see power), l, the lse on
  ///   entry weightSum [panel][lane]         l of the rounded P that values
  ///   meet, where
  ///                                   P is rounded to pairs; else rowSum
  ///   lower, upper [panel][lane]      keys [lower, upper) that a query sees
  ///   ranges  [panel][4]              least and greatest lower, upper
  ///   keys    [key][headWords]
  ///   values  [valuePad / tile][key / pair][tile], `stripe` words apart
  ///   scores  [key][lane]             S of one panel
  ///           [key / pair][lane]      then P
  ///   weights [key][lane]             what a score function multiplies P by
  ///   positions [panel][lane]         of queries, 32 bits each
  ///   terms   [term][panel][lane]     8 bytes each: of a query's values the
  ///                                   element, of pairs the offset of a query
  ///   pairs   [term][lane][panel]     elements of pairs for `lanes` keys, in
  ///                                   words of laneType
  int64_t queries, output, rowMax, rowSum, weightSum, rowState, lower, upper,
      ranges, keys, values, scores, weights, positions, terms, pairs, bytes;
};

using Body = function_ref<void(Value)>;
using CarriedBody = function_ref<SmallVector<Value>(Value, ValueRange)>;

class Emitter : public ImplicitLocOpBuilder {
public:
  Emitter(Location loc, const AttentionKernelConfig &config);

  const Shape shape;
  mutable func::FuncOp score; ///< null without a score function
  unsigned perQuery, perKey, perHead,
      pair;              ///< its terms; the others are tables
  Type storedType;       ///< element type of q, k, v
  FloatType scalarType;  ///< compute type
  IntegerType laneType;  ///< integer of the compute type's width
  VectorType vectorType; ///< `lanes` of the compute type
  Type pointerType;

  // 64-bit integers and memory.
  Value integer(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value least(Value a, Value b);
  Value greatest(Value a, Value b);
  Value alignDown(Value a, int64_t powerOfTwo);
  Value alignUp(Value a, int64_t powerOfTwo);
  Value compare(arith::CmpIPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// Address of element `index` of an array of `type` at `base`.
  Value at(Value base, Value index, Type type);
  Value at(Value base, int64_t index, Type type);
  Value load(Type type, Value address);
  void store(Value value, Value address);
  /// Asks for the cache line at `address`, which need not be valid memory, in
  /// cache level 1 or 2.
  void prefetch(Value address, int32_t level);

  // Control flow.
  void loop(Value from, Value to, int64_t step, Body body);
  SmallVector<Value> loop(Value from, Value to, int64_t step,
                          ValueRange initial, CarriedBody body);
  void ifThen(Value condition, function_ref<void()> body);
  SmallVector<Value> ifElse(Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> thenBody,
                            function_ref<SmallVector<Value>()> elseBody);

  // Vectors.
  Value splat(Value scalar, int64_t count = 0);
  Value constant(double value);  ///< a vector of the compute type
  Value integers(int64_t value); ///< a vector of laneType
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  /// a · b + c for words a and b.
  Value multiplyAdd(Value a, Value b, Value c);
  /// The steps of a contraction over `elements`.
  Value steps(Value elements);
  Value equal(Value a, Value b);
  /// a > b ? a : b, one instruction: b where either is NaN.
  Value larger(Value a, Value b);
  /// Lanes below `count`; null when `size` is a multiple of `lanes`, so that a
  /// chunk of it is always whole.
  Value tailMask(Value count, int64_t size, int64_t lanes);
  /// `count` elements as they are, 16-bit ones as integers; zero where masked
  /// off.
  Value loadStored(Value address, Type type, int64_t count, Value mask);
  /// A vector of words of q or k; the mask is of elements.
  Value loadWords(Value address, Value mask);
  /// Words of pairs from 16-bit integers.
  Value joinHalves(Value even, Value odd);
  /// Words of pairs from two vectors, rounded to bf16.
  Value roundToPairs(Value even, Value odd);
  /// A vector of bf16 pairs of 1, as words.
  Value pairsOfOne();
  /// Flips the bits of the words that are set in `signs`, a vector of laneType.
  Value flipSigns(Value words, Value signs);
  /// `count` elements in the compute type; zero where masked off.
  Value loadConverted(Value address, Type type, int64_t count, Value mask);
  void storeMasked(Value value, Value address, Value mask);
  /// Transposes `lanes` vectors.
  void transpose(SmallVectorImpl<Value> &rows);

  // Elementary functions on vectors, to about an ulp of the compute type.
  /// 2^x for x <= 0; 2^0 is exactly 1, 2^-inf exactly 0.
  Value exp2(Value x);
  /// e^x of the differences of a kernel's exponents, which are in base 2 or,
  /// where a score function makes them, in base e: scaled ones would be rounded
  /// where they are large, equal ones differ by nothing.
  Value power(Value difference);
  /// The factor of an lse in a kernel's exponents.
  double perLse() const { return score ? 1.0 : llvm::numbers::log2e; }
  /// ln(2^exponent * x) for positive normal x; NaN where x is NaN.
  Value log(Value exponent, Value x);

private:
  Value exp2Avx512(Value x);
  Value polynomial(Value x, ArrayRef<double> coefficients);
};

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONEMITTER_H
