/// A thin layer over the op builders for scalar, vector and pointer code in one
/// compute type, and what the registers of a machine hold of it.
#ifndef SP_LIB_CODEGEN_VECTOREMITTER_H
#define SP_LIB_CODEGEN_VECTOREMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

  // Vectors.
  Value splat(Value scalar, int64_t count = 0);
  Value constant(double value);  ///< a vector of the compute type
  Value integers(int64_t value); ///< a vector of laneType
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value equal(Value a, Value b);
  /// a > b ? a : b, one instruction: b where either is NaN.
  Value larger(Value a, Value b);
};

/// Bytes that scalars and vectors of a type are aligned to: those of an element
/// only, since rows start anywhere.
unsigned elementAlignment(Type type);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTOREMITTER_H
