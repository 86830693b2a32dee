/// A thin layer over the op builders for scalar, vector and pointer code in one
/// compute type, and what the registers of a machine hold of it.
#ifndef SP_LIB_CODEGEN_VECTOREMITTER_H
#define SP_LIB_CODEGEN_VECTOREMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::sp::attention {

constexpr int64_t kLineBytes = 64; ///< of a cache line

/// A panel is two vectors; a register tile is `tile` rows x one panel, all of
/// it in registers while a contraction runs.
struct Registers {
  /// f16 and bf16 are computed in f32. With `pairs` a word is a pair of bf16,
  /// which the machine multiplies at once.
  Registers(Type elementType, int64_t vectorBits, bool pairs)
      : elementBytes(elementType.isF64() ? 8 : 4),
        lanes(vectorBits / (8 * elementBytes)), panel(2 * lanes),
        tile(vectorBits == 512 ? 8 : 4), pair(pairs && lanes == 16 ? 2 : 1) {}

  int64_t elementBytes; ///< of the compute type, f32 or f64
  int64_t lanes, panel; ///< elements in a vector, in a panel
  int64_t tile;         ///< rows of a register tile
  int64_t unroll = 4;   ///< steps of a contraction per loop iteration
  int64_t pair;         ///< elements in a word: 1 or 2
};

using Body = function_ref<void(Value)>;
using CarriedBody = function_ref<SmallVector<Value>(Value, ValueRange)>;

class VectorEmitter : public ImplicitLocOpBuilder {
public:
  VectorEmitter(Location loc, Type storedType, const Registers &registers);

  const Registers registers;
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
  /// What marks a pair that is not there: a signalling NaN, which no arithmetic
  /// yields. `isMark` compares bits.
  Value mark();
  Value isMark(Value x);
  /// x as integers of its width, without the sign: ordered as magnitudes, where
  /// NaN is beyond infinity.
  Value magnitudes(Value x);
  /// Bits of a non-negative number of the compute type.
  int64_t bitsOf(double number) const;
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
  /// Words of pairs whose elements, one after the other, are those of `low`
  /// and then those of `high`, rounded to bf16.
  Value roundToRow(Value low, Value high);
  /// Words of pairs of what two rows of words hold at each column: of the
  /// first `lanes` columns for half 0, of the next for half 1.
  Value pairRows(Value even, Value odd, int64_t half);
  /// The elements of words in the compute type: one vector, or of pairs the
  /// first ones and the second ones.
  SmallVector<Value> elementsOf(Value words);
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
  /// ln(2^exponent * x) for positive normal x; NaN where x is NaN.
  Value log(Value exponent, Value x);

private:
  Value exp2Avx512(Value x);
  Value polynomial(Value x, ArrayRef<double> coefficients);
};

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTOREMITTER_H
