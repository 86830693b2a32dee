// Elements of pairs for a score function: rows of keys, transposed so that
// queries are in the lanes, or copied one by one where keys are not
// consecutive.
#include "CPU/Attention/AttentionScore.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorMemory.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

/// Elements of pairs that are no wider than a word are laid out.
bool ScorePass::isPacked(const Term &term) const {
  return storageOf(term.element).getIntOrFloatBitWidth() <=
         e.laneType.getWidth();
}

Value ScorePass::packedAt(unsigned pair, Value number, int64_t half) {
  int64_t area = site.areas->pairs + pair * r.lanes * r.panel * r.elementBytes;
  Value base =
      e.at(site.scratch, area + half * r.lanes * r.elementBytes, e.getI8Type());
  return e.at(base, e.mul(number, e.integer(r.panel)), e.laneType);
}

/// Where the rows of the queries of a half begin.
Value ScorePass::offsetsOf(unsigned pair, int64_t half) {
  return e.load(lanesOf(e.getI64Type()),
                slotOf(e, site, function.perQuery + pair, laneIndex(half)));
}

/// Base of the column of a key's position.
Value ScorePass::columnOf(const Term &term, Value position) {
  Value column = arith::ExtSIOp::create(e, e.getI64Type(), position);
  return e.at(term.base, e.mul(column, term.key), storageOf(term.element));
}

/// Positions from one key's to another's.
Value ScorePass::stepOf(Value first, Value last) {
  Value step = arith::SubIOp::create(e, positionOf(last), positionOf(first));
  return arith::ExtSIOp::create(e, e.getI64Type(), step);
}

Value ScorePass::toWords(Value raw) {
  Type storage = getElementTypeOrSelf(raw);
  unsigned width = storage.getIntOrFloatBitWidth();
  if (isa<FloatType>(storage))
    raw = arith::BitcastOp::create(e, lanesOf(e.getIntegerType(width)), raw);
  if (width == e.laneType.getWidth())
    return raw;
  return arith::ExtUIOp::create(e, lanesOf(e.laneType), raw);
}

Value ScorePass::fromWords(Value words, Type storage) {
  unsigned width = storage.getIntOrFloatBitWidth();
  if (width < e.laneType.getWidth())
    words = arith::TruncIOp::create(e, lanesOf(e.getIntegerType(width)), words);
  if (isa<FloatType>(storage))
    words = arith::BitcastOp::create(e, lanesOf(storage), words);
  return words;
}

/// Rows of consecutive keys, transposed.
void ScorePass::packRows(unsigned pair, Value first, Value last) {
  const Term &term = site.terms[function.firstPair() + pair];
  Type storage = storageOf(term.element);
  Value column = columnOf(term, positionOf(first));
  Value count = e.add(e.sub(last, first), e.integer(1));
  // Never a multiple of the lanes, so that the mask is a real one.
  Value mask = tailMask(e, count, /*size=*/1, r.lanes);
  auto raw =
      lanesOf(isa<FloatType>(storage)
                  ? Type(e.getIntegerType(storage.getIntOrFloatBitWidth()))
                  : storage);
  Value none = arith::ConstantOp::create(e, e.getZeroAttr(raw));
  for (int64_t half = 0; half < 2; ++half) {
    SmallVector<Value> rows;
    Value slots = slotOf(e, site, function.perQuery + pair, laneIndex(half));
    for (int64_t lane = 0; lane < r.lanes; ++lane) {
      Value offset = e.load(e.getI64Type(), e.at(slots, lane, e.getI64Type()));
      Value row = LLVM::MaskedLoadOp::create(
          e, raw, e.at(column, offset, storage), mask, none,
          e.getI32IntegerAttr(storage.getIntOrFloatBitWidth() / 8));
      rows.push_back(toWords(row));
    }
    transpose(e, rows);
    for (auto [number, row] : llvm::enumerate(rows))
      e.store(row, packedAt(pair, e.integer(number), half));
  }
}

/// Elements from anywhere, one by one, which is faster than instructions that
/// gather. Those of the next keys are asked for meanwhile: `lookAhead` names
/// one line of each query, and striped keys lie in several.
void ScorePass::packElements(unsigned pair, Value first, Value last) {
  const Term &term = site.terms[function.firstPair() + pair];
  Type storage = storageOf(term.element);
  Type raw = e.getIntegerType(storage.getIntOrFloatBitWidth());
  Value count = e.add(e.sub(last, first), e.integer(1));
  Value slots = slotOf(e, site, function.perQuery + pair, firstLane);
  Value next =
      e.least(e.add(last, e.integer(1)), e.sub(site.keys, e.integer(1)));
  Value ahead = e.mul(stepOf(first, next), term.key);
  loop(e, e.integer(0), e.integer(r.panel), 1, [&](Value lane) {
    Value offset = e.load(e.getI64Type(), e.at(slots, lane, e.getI64Type()));
    loop(e, e.integer(0), count, 1, [&](Value number) {
      Value column = columnOf(term, positionOf(e.add(first, number)));
      Value address = e.at(column, offset, storage);
      e.prefetch(e.at(address, ahead, storage), 2);
      Value word = e.load(raw, address);
      if (raw != e.laneType)
        word = arith::ExtUIOp::create(e, e.laneType, word);
      e.store(word, e.at(packedAt(pair, number, 0), lane, e.laneType));
    });
  });
}

void ScorePass::packPairs(Value first, Value last) {
  for (unsigned pair = 0; pair < function.pair; ++pair) {
    const Term &term = site.terms[function.firstPair() + pair];
    if (!isPacked(term))
      continue;
    Value step = stepOf(first, last);
    using Predicate = arith::CmpIPredicate;
    Value isRow = arith::AndIOp::create(
        e, e.compare(Predicate::eq, step, e.sub(last, first)),
        e.compare(Predicate::eq, term.key, e.integer(1)));
    ifElse(
        e, isRow, TypeRange(),
        [&] {
          packRows(pair, first, last);
          return SmallVector<Value>();
        },
        [&] {
          packElements(pair, first, last);
          return SmallVector<Value>();
        });
  }
}

// A row of pairs begins far from the one before it, so packing alone would wait
// for memory at each of them. What comes after a panel's rows is the next
// panel's.
SmallVector<Ahead> ScorePass::lookAhead(Value row, int64_t iterations) {
  int64_t share = llvm::divideCeil(r.panel, iterations);
  row = e.least(row, e.sub(site.keys, e.integer(1)));
  SmallVector<Ahead> all;
  for (unsigned pair = 0; pair < function.pair; ++pair) {
    const Term &term = site.terms[function.firstPair() + pair];
    Type storage = storageOf(term.element);
    Value column = columnOf(term, positionOf(row));
    Value offset = e.load(e.getI64Type(),
                          slotOf(e, site, function.perQuery + pair, firstLane));
    Value queryBytes =
        e.mul(term.query, e.integer(storage.getIntOrFloatBitWidth() / 8));
    for (int64_t i = 0; i < share; ++i) {
      all.push_back(
          {e.at(column, offset, storage), e.mul(queryBytes, e.integer(share))});
      offset = e.add(offset, term.query);
    }
  }
  return all;
}
