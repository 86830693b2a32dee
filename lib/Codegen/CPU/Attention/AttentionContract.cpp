// Contractions in register tiles: `tile` rows x 2 vectors.
#include "CPU/Attention/AttentionPieces.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorWords.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value attention::vectorAt(VectorEmitter &e, Value base, Value row,
                          int64_t half) {
  Value rowBase =
      e.at(base, e.mul(row, e.integer(e.registers.panel)), e.scalarType);
  return e.at(rowBase, half * e.registers.lanes, e.scalarType);
}

void attention::prefetchFactors(VectorEmitter &e, Value following, Value step) {
  const Registers &r = e.registers;
  Value address = e.at(following, e.mul(step, e.integer(r.tile)), e.scalarType);
  for (int64_t byte = 0; byte < r.unroll * r.tile * r.elementBytes;
       byte += kLineBytes)
    e.prefetch(e.at(address, byte, e.getI8Type()), 1);
}

SmallVector<Value> attention::contract(VectorEmitter &e, Value from, Value to,
                                       ValueRange sums, Value vectors,
                                       const Factors &factors,
                                       function_ref<void(Value)> prefetch) {
  const Registers &r = e.registers;
  return loop(e, from, to, r.unroll, sums, [&](Value base, ValueRange carried) {
    SmallVector<Value> next = llvm::to_vector(carried);
    prefetch(base);
    Value scalars = factors.at(base), rows = vectorAt(e, vectors, base, 0);
    for (int64_t u = 0; u < r.unroll; ++u) {
      Value pair[2];
      for (int64_t half = 0; half < 2; ++half)
        pair[half] =
            e.load(e.vectorType,
                   e.at(rows, u * r.panel + half * r.lanes, e.scalarType));
      for (int64_t i = 0; i < r.tile; ++i) {
        Value scalar = e.splat(e.load(
            e.scalarType,
            e.at(scalars, u * factors.step + i * factors.row, e.scalarType)));
        for (int64_t half = 0; half < 2; ++half)
          next[2 * i + half] =
              multiplyAdd(e, scalar, pair[half], next[2 * i + half]);
      }
    }
    return next;
  });
}

void attention::prefetchAhead(VectorEmitter &e, ArrayRef<Ahead> ahead,
                              Value step) {
  Value iteration =
      arith::DivUIOp::create(e, step, e.integer(e.registers.unroll));
  for (const Ahead &a : ahead)
    e.prefetch(e.at(a.address, e.mul(iteration, a.stride), e.getI8Type()), 2);
}
