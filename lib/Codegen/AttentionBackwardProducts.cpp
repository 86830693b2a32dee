// One register tile of a product of two matrices in scratch memory.
#include "AttentionBackward.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value Scalars::at(BackwardEmitter &e, Value row, Value step) const {
  if (isTransposed)
    std::swap(row, step);
  Value panel = e.integer(e.registers.panel);
  Value plane = arith::DivUIOp::create(e, step, panel);
  Value column = arith::RemUIOp::create(e, step, panel);
  return e.at(matrix.row(e, plane, row), column, e.scalarType);
}

SmallVector<Value> attention::multiply(BackwardEmitter &e, const Scalars &a,
                                       Value row, Value vectors, Value from,
                                       Value to, ValueRange sums,
                                       function_ref<void(Value)> prefetch) {
  return contract(e, from, to, sums, vectors,
                  {[&](Value step) { return a.at(e, row, step); },
                   /*row=*/a.isTransposed ? 1 : e.registers.panel,
                   /*step=*/a.isTransposed ? e.registers.panel : 1},
                  prefetch);
}

/// The same to memory, one element of the tile after the other, and where a
/// scalar is 0 nothing is added.
static void multiplyNonzero(BackwardEmitter &e, const Scalars &a, Value row,
                            Value vectors, Value from, Value to, Value target) {
  const Registers &r = e.registers;
  Value zero = e.constant(0);
  e.loop(e.integer(0), e.integer(r.tile), 1, [&](Value i) {
    for (int64_t half = 0; half < 2; ++half) {
      Value address = vectorAt(e, target, i, half);
      Value sum = e.loop(
          from, to, 1, e.load(e.vectorType, address),
          [&](Value step, ValueRange so) -> SmallVector<Value> {
            Value scalar =
                e.splat(e.load(e.scalarType, a.at(e, e.add(row, i), step)));
            Value x = e.load(e.vectorType, vectorAt(e, vectors, step, half));
            Value sum = so[0];
            for (auto [factor, element] :
                 llvm::zip_equal(e.elementsOf(scalar), e.elementsOf(x)))
              sum = e.select(e.equal(factor, zero), sum,
                             e.fma(factor, element, sum));
            return {sum};
          })[0];
      e.store(sum, address);
    }
  });
}

SmallVector<Value> attention::loadTile(BackwardEmitter &e, Value address) {
  const Registers &r = e.registers;
  SmallVector<Value> tile;
  for (int64_t i = 0; i < 2 * r.tile; ++i)
    tile.push_back(
        e.load(e.vectorType, e.at(address, i * r.lanes, e.scalarType)));
  return tile;
}

void attention::storeTile(BackwardEmitter &e, ValueRange tile, Value address) {
  for (auto [i, value] : llvm::enumerate(tile))
    e.store(value, e.at(address, static_cast<int64_t>(i) * e.registers.lanes,
                        e.scalarType));
}

SmallVector<Value> attention::timesFactors(BackwardEmitter &e,
                                           ValueRange factors,
                                           ValueRange tile) {
  Value zero = e.constant(0);
  SmallVector<Value> products;
  for (auto [factor, x] : llvm::zip_equal(factors, tile))
    products.push_back(
        e.select(e.equal(factor, zero), zero, e.mulf(factor, x)));
  return products;
}

void attention::addProduct(BackwardEmitter &e, Value isFinite, const Scalars &a,
                           Value row, Value vectors, Value from, Value to,
                           Value target) {
  e.ifElse(
      isFinite, TypeRange(),
      [&] {
        storeTile(e,
                  multiply(e, a, row, vectors, from, to, loadTile(e, target)),
                  target);
        return SmallVector<Value>();
      },
      [&] {
        multiplyNonzero(e, a, row, vectors, from, to, target);
        return SmallVector<Value>();
      });
}
