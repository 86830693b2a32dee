/// What the kernels for attention and for its gradients are both made of: the
/// arguments of a launch, the bands of slices, and register tiles.
#ifndef SP_LIB_CODEGEN_ATTENTIONPIECES_H
#define SP_LIB_CODEGEN_ATTENTIONPIECES_H

#include "CPU/Attention/VectorEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp::attention {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Rows of one (batch, head): row r at base + r * stride elements of `type`.
struct Rows {
  Value base, stride;
  Type type;
};

/// A slice of the mask as loaded from memory.
struct Slice {
  Value q0, q1, k0, k1, lo, hi, qStride, kStride, uniform;
};

/// Begins a function of sprt_kernel's type.
func::FuncOp beginKernel(VectorEmitter &e, ModuleOp module, StringRef name);

/// The arguments of a launch. Those named by an index of a size or buffer are
/// of either kernel's enumeration.
struct Arguments {
  VectorEmitter &e;
  Value buffers, sizes, scratch;

  Value size(int64_t index);
  Value buffer(int64_t index);
  /// The double whose bits are a size.
  Value number(int64_t index);
  /// Rows of (batch, head) in a buffer with strides {batch, row, head}.
  Rows rows(int64_t bufferIndex, int64_t strides, Type type, Value batch,
            Value head);
  /// Local kv head of a global query head; `headFirst` is the index of that
  /// size, which HEADS_TOTAL, KV_FIRST and KV_TOTAL follow.
  Value kvHead(int64_t headFirst, Value globalHead);
  /// Slice `index` of the table in a buffer.
  Slice slice(int64_t bufferIndex, Value index);
};

/// A scalar of f64 in all lanes.
Value inLanes(VectorEmitter &e, Value number);

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

/// A block of queries in panels, and where its bounds lie in scratch memory.
struct QueryBlock {
  Value first;         ///< its first row
  Value queries, keys; ///< valid rows in all
  Value panels;        ///< panels that hold valid rows
  Value lower, upper;  ///< [panel][lane]: a query sees keys [lower,
                       ///< upper), in integers of laneType
  Value ranges;        ///< [panel][4] as in Sight
};

/// Writes the keys that each query sees of a slice, and their extremes per
/// panel. Returns the range of keys that the block sees; empty: first >=
/// second. Where `counts` says no of a query of the block, it sees none.
std::pair<Value, Value> boundSlice(VectorEmitter &e, const QueryBlock &block,
                                   const Slice &slice,
                                   function_ref<Value(Value)> counts = {});

/// i1: no where none of the queries from the first to the last sees one of keys
/// [firstKey, keyEnd), because bounds grow with the query.
Value mayMeet(VectorEmitter &e, const Slice &slice, Value firstQuery,
              Value lastQuery, Value firstKey, Value keyEnd);

/// What one panel sees: the bounds of its lanes and their extremes.
struct Sight {
  Value lower, upper; ///< addresses
  Value leastLower, greatestLower, leastUpper, greatestUpper;
};
Sight loadSight(VectorEmitter &e, const QueryBlock &block, Value panel);

/// The panel's range [from, to) of the block of `count` keys at `firstKey`, in
/// whole tiles.
std::pair<Value, Value> clipSight(VectorEmitter &e, const Sight &sight,
                                  Value firstKey, Value count);
/// Whether the band's edge crosses the tile of keys at `key`.
Value crossesEdge(VectorEmitter &e, const Sight &sight, Value key);
/// Which lanes see the keys of the tile at `firstKey`: two masks a key.
SmallVector<Value> visibleLanes(VectorEmitter &e, const Sight &sight,
                                Value firstKey);

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

/// Vector `half` of row `row` of an array with one panel a row.
Value vectorAt(VectorEmitter &e, Value base, Value row, int64_t half);

/// The scalars of a contraction: `at` gives the address of the first row's at
/// a step that is a multiple of `unroll`; those of the next rows and of the
/// next steps lie `row` and `step` words on.
struct Factors {
  function_ref<Value(Value)> at;
  int64_t row, step;
};

/// Accumulates a register tile: for steps [from, to) of the contraction,
/// sums[i][half] += factor(step, i) · vectors[step][half].
SmallVector<Value> contract(VectorEmitter &e, Value from, Value to,
                            ValueRange sums, Value vectors,
                            const Factors &factors,
                            function_ref<void(Value)> prefetch);

/// What a panel asks for while it works at a register tile: with iteration i of
/// its contraction, the line at `address` + i * `stride` bytes.
struct Ahead {
  Value address, stride;
};
/// Asks for it at `step`.
void prefetchAhead(VectorEmitter &e, ArrayRef<Ahead> ahead, Value step);

/// Asks for the factors that the next register tile takes at `step`: `tile`
/// contiguous words a step at `following`.
void prefetchFactors(VectorEmitter &e, Value following, Value step);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONPIECES_H
