// One register tile of a product of two matrices in scratch memory.
#include "CPU/Attention/Backward/AttentionBackward.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorWords.h"

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

/// The same to memory, one element of the tile after the other, and nothing is
/// added of a pair that is not there.
static void multiplyVisible(BackwardEmitter &e, const Scalars &a, Value row,
                            Value vectors, Value from, Value to, Value target,
                            IsThere isThere) {
  const Registers &r = e.registers;
  loop(e, e.integer(0), e.integer(r.tile), 1, [&](Value i) {
    for (int64_t half = 0; half < 2; ++half) {
      Value address = vectorAt(e, target, i, half);
      Value sum = loop(
          e, from, to, 1, e.load(e.vectorType, address),
          [&](Value step, ValueRange so) -> SmallVector<Value> {
            Value scalar =
                e.splat(e.load(e.scalarType, a.at(e, e.add(row, i), step)));
            Value x = e.load(e.vectorType, vectorAt(e, vectors, step, half));
            Value sum = so[0];
            for (auto [number, factor, element] :
                 llvm::enumerate(elementsOf(e, scalar), elementsOf(e, x))) {
              Value index = e.add(e.mul(step, e.integer(r.pair)),
                                  e.integer(static_cast<int64_t>(number)));
              sum =
                  e.select(isThere(i, index), e.fma(factor, element, sum), sum);
            }
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
                                           ValueRange factors, ValueRange tile,
                                           Value none) {
  auto words = VectorType::get(e.registers.lanes, e.laneType);
  none = arith::BitcastOp::create(e, words, none);
  SmallVector<Value> products;
  for (auto [factor, x] : llvm::zip_equal(factors, tile)) {
    Value bits = arith::BitcastOp::create(e, words, factor);
    Value isNone = e.compare(arith::CmpIPredicate::eq, bits, none);
    products.push_back(e.select(isNone, e.constant(0), e.mulf(factor, x)));
  }
  return products;
}

void attention::addProduct(BackwardEmitter &e, Value isFinite, const Scalars &a,
                           Value row, Value vectors, Value from, Value to,
                           Value target, IsThere isThere) {
  ifElse(
      e, isFinite, TypeRange(),
      [&] {
        storeTile(e,
                  multiply(e, a, row, vectors, from, to, loadTile(e, target)),
                  target);
        return SmallVector<Value>();
      },
      [&] {
        multiplyVisible(e, a, row, vectors, from, to, target, isThere);
        return SmallVector<Value>();
      });
}

/// Where scalars of a product over queries lie for a panel and a key.
static Value factorsAt(BackwardEmitter &e, const Matrix &factors, Value panel,
                       Value row) {
  const Registers &r = e.registers;
  if (r.pair == 1)
    return factors.row(e, panel, row);
  // Two panels' words are a plane.
  Value pair = e.integer(2);
  Value address = factors.row(e, arith::DivUIOp::create(e, panel, pair), row);
  Value half = arith::RemUIOp::create(e, panel, pair);
  return e.at(address, e.mul(half, e.integer(r.lanes)), e.scalarType);
}

void attention::storeFactors(BackwardEmitter &e, const Matrix &factors,
                             Value panel, Value row, ValueRange values) {
  const Registers &r = e.registers;
  Value address = factorsAt(e, factors, panel, row);
  if (r.pair == 1)
    return storeTile(e, values, address);
  for (size_t i = 0; i < values.size(); i += 2)
    e.store(roundToRow(e, values[i], values[i + 1]),
            e.at(address, static_cast<int64_t>(i) / 2 * r.panel, e.scalarType));
}

void attention::storeColumns(BackwardEmitter &e, const Matrix &columns,
                             Value row, ValueRange values) {
  const Registers &r = e.registers;
  Value address = columns.row(e, e.integer(0), stepsOf(e, row));
  for (int64_t i = 0; i < r.tile; i += r.pair)
    for (int64_t half = 0; half < 2; ++half)
      e.store(
          roundToPairs(e, values[2 * i + half], values[2 * i + 2 + half]),
          e.at(address, i / r.pair * r.panel + half * r.lanes, e.scalarType));
}
