// Moves rows between their natural row-major form and the planes of the
// gradient kernels.
#include "CPU/Attention/Backward/AttentionBackward.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorMemory.h"
#include "CPU/Attention/VectorWords.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value Matrix::plane(VectorEmitter &e, Value number) const {
  return e.at(base, e.mul(number, e.integer(rows * e.registers.panel)),
              e.scalarType);
}

Value Matrix::row(VectorEmitter &e, Value planeNumber, Value number) const {
  return e.at(plane(e, planeNumber),
              e.mul(number, e.integer(e.registers.panel)), e.scalarType);
}

/// Address of the vector at `column`, a multiple of the lanes, of a row.
static Value vectorOf(BackwardEmitter &e, const Matrix &matrix, Value row,
                      Value column) {
  const Registers &r = e.registers;
  Value plane = arith::DivUIOp::create(e, column, e.integer(r.panel));
  Value inPlane = arith::RemUIOp::create(e, column, e.integer(r.panel));
  return e.at(matrix.row(e, plane, row), inPlane, e.scalarType);
}

static Value rowAt(BackwardEmitter &e, const Rows &rows, Value number) {
  return e.at(rows.base, e.mul(number, rows.stride), rows.type);
}

static Value columnMask(BackwardEmitter &e, Value column, int64_t size) {
  int64_t lanes = e.registers.lanes;
  return tailMask(e, e.sub(e.integer(size), column), size, lanes);
}

/// The words that begin at `column` of a row of `size` columns; zeros where a
/// `isValid` says no.
static Value wordsOf(BackwardEmitter &e, Value row, Value column, int64_t size,
                     Value isValid = Value()) {
  int64_t elements = e.registers.lanes * e.registers.pair;
  Value columns = e.sub(e.integer(size), column);
  // A size that is never a multiple of the lanes asks for a real mask.
  Value mask = isValid ? tailMask(e, e.select(isValid, columns, e.integer(0)),
                                  /*size=*/1, elements)
                       : tailMask(e, columns, size, elements);
  return loadWords(e, e.at(row, column, e.storedType), mask);
}

/// Elements of the words times 0 added to `sum`: NaN where one is not finite.
static Value note(BackwardEmitter &e, Value words, Value sum) {
  for (Value x : elementsOf(e, words))
    sum = e.fma(x, e.constant(0), sum);
  return sum;
}

/// Stores pairs of what two rows of words hold, at the columns from `column`.
static void storePairs(BackwardEmitter &e, Value even, Value odd,
                       const Matrix &to, Value step, Value column) {
  for (int64_t half = 0; half < 2; ++half)
    e.store(pairRows(e, even, odd, half),
            e.at(vectorOf(e, to, step, column), half * e.registers.lanes,
                 e.scalarType));
}

Value attention::packKeys(BackwardEmitter &e, const Rows &rows, Value first,
                          Value valid, Value count, int64_t size,
                          const Matrix &words, const Matrix *pairs) {
  const Registers &r = e.registers;
  Value end = e.alignUp(valid, r.pair);
  Value noted = loop(
      e, e.integer(0), end, r.pair, e.constant(0),
      [&](Value row, ValueRange sums) {
        Value second = e.add(row, e.integer(1));
        Value isValid = e.compare(arith::CmpIPredicate::slt, second, valid);
        Value source = rowAt(e, rows, e.add(first, row));
        Value other =
            rowAt(e, rows, e.add(first, e.select(isValid, second, row)));
        return loop(e, e.integer(0), e.integer(size), r.lanes * r.pair, sums,
                    [&](Value column, ValueRange sums) -> SmallVector<Value> {
                      Value x = wordsOf(e, source, column, size);
                      e.store(x, vectorOf(e, words, row, stepsOf(e, column)));
                      Value sum = note(e, x, sums[0]);
                      if (r.pair == 1)
                        return {sum};
                      Value y = wordsOf(e, other, column, size, isValid);
                      e.store(y,
                              vectorOf(e, words, second, stepsOf(e, column)));
                      if (pairs)
                        storePairs(e, x, y, *pairs, stepsOf(e, row), column);
                      return {note(e, y, sum)};
                    });
      })[0];
  loop(e, end, count, r.pair, [&](Value row) {
    loop(e, e.integer(0), e.integer(size), r.lanes * r.pair, [&](Value column) {
      Value zero = e.constant(0);
      for (int64_t i = 0; i < r.pair; ++i)
        e.store(zero, vectorOf(e, words, e.add(row, e.integer(i)),
                               stepsOf(e, column)));
      if (r.pair == 2 && pairs)
        storePairs(e, zero, zero, *pairs, stepsOf(e, row), column);
    });
  });
  return noted;
}

Value attention::packQueries(BackwardEmitter &e, const Rows &rows,
                             const QueryBlock &block, int64_t size,
                             const Matrix &to, const Matrix &columns) {
  const Registers &r = e.registers;
  Value last = e.sub(block.queries, e.integer(1));
  return loop(
      e, e.integer(0), e.mul(block.panels, e.integer(2)), 1, e.constant(0),
      [&](Value group, ValueRange sums) {
        Value index = e.mul(group, e.integer(r.lanes));
        SmallVector<Value> sources;
        for (int64_t lane = 0; lane < r.lanes; ++lane)
          sources.push_back(
              rowAt(e, rows,
                    e.least(e.add(e.add(block.first, index), e.integer(lane)),
                            last)));
        return loop(
            e, e.integer(0), e.integer(size), r.lanes * r.pair, sums,
            [&](Value column, ValueRange sums) -> SmallVector<Value> {
              Value sum = sums[0];
              SmallVector<Value> words;
              for (Value source : sources) {
                words.push_back(wordsOf(e, source, column, size));
                sum = note(e, words.back(), sum);
              }
              for (int64_t lane = 0; lane < r.lanes; lane += r.pair) {
                Value step = stepsOf(e, e.add(index, e.integer(lane)));
                if (r.pair == 1)
                  e.store(words[lane], vectorOf(e, to, step, column));
                else
                  storePairs(e, words[lane], words[lane + 1], to, step, column);
              }
              transpose(e, words);
              // Queries are columns now: `index` is the first of a vector.
              Value target = vectorOf(e, columns, stepsOf(e, column), index);
              for (auto [row, vector] : llvm::enumerate(words))
                e.store(vector,
                        e.at(target, static_cast<int64_t>(row) * r.panel,
                             e.scalarType));
              return {sum};
            });
      })[0];
}

void attention::prefetchRows(BackwardEmitter &e, const Rows &rows, Value first,
                             int64_t size) {
  int64_t bytes = size * rows.type.getIntOrFloatBitWidth() / 8;
  loop(e, e.integer(0), e.integer(e.registers.panel), 1, [&](Value row) {
    Value base = rowAt(e, rows, e.add(first, row));
    for (int64_t byte = 0; byte < bytes; byte += kLineBytes)
      e.prefetch(e.at(base, byte, e.getI8Type()), 2);
  });
}

static Value numberOf(BackwardEmitter &e, double value) {
  return arith::ConstantOp::create(e, e.getFloatAttr(e.scalarType, value));
}

/// lse in base 2 as a sum of two numbers, the second much smaller.
///
/// Neighbours of a large lse are so far apart that rounding it alone changes
/// weights. Most rows there give all weight to one key, so a large lse is taken
/// to be less by as much as it may be rounded up: as weights are at most 1,
/// that key's is then exact.
static std::pair<Value, Value> toBaseTwo(BackwardEmitter &e, Value lse) {
  bool isDouble = e.scalarType.isF64();
  double log2e = isDouble ? llvm::numbers::log2e
                          : static_cast<float>(llvm::numbers::log2e);
  double remainder =
      isDouble ? 0x1.777d0ffda0d24p-56 : llvm::numbers::log2e - log2e;
  double rounding = isDouble ? 0x1p-51 : 0x1p-22;
  Value high = arith::MulFOp::create(e, lse, numberOf(e, log2e));
  auto fma = [&](Value a, double b, Value c) -> Value {
    return math::FmaOp::create(e, a, numberOf(e, b), c);
  };
  Value low = fma(lse, log2e, arith::NegFOp::create(e, high));
  low = fma(lse, remainder, low);
  Value size = math::AbsFOp::create(e, high);
  Value least = numberOf(e, 0x1p-10 / rounding);
  Value isLarge =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OGE, size, least);
  low = e.select(isLarge, fma(size, -rounding, low), low);
  // No sum of infinities.
  Value isFinite = arith::CmpFOp::create(
      e, arith::CmpFPredicate::OLT, size,
      numberOf(e, std::numeric_limits<double>::infinity()));
  return {high, e.select(isFinite, low, numberOf(e, 0))};
}

void attention::packNumbers(BackwardEmitter &e, const BackwardTile &tile,
                            const QueryHead &head, const QueryBlock &block) {
  Value count = e.mul(block.panels, e.integer(e.registers.panel));
  Value valid = e.least(e.sub(block.queries, block.first), count);
  loop(e, e.integer(0), valid, 1, [&](Value index) {
    Value row = e.add(block.first, index);
    auto store = [&](Value number, Value area) {
      e.store(number, e.at(area, index, e.scalarType));
    };
    store(e.load(e.scalarType, rowAt(e, head.delta, row)), tile.delta);
    Value address = rowAt(e, head.lse, row);
    Value lse = e.load(e.scalarType, address);
    if (e.score) {
      Value sum = e.load(e.scalarType, e.at(address, 1, e.scalarType));
      store(lse, tile.lse);
      store(arith::DivFOp::create(e, numberOf(e, 1), sum), tile.inverse);
      return;
    }
    auto [high, low] = toBaseTwo(e, lse);
    store(high, tile.lse);
    store(low, tile.lseRest);
  });
  Value none = numberOf(e, -std::numeric_limits<double>::infinity());
  Value zero = numberOf(e, 0);
  loop(e, valid, count, 1, [&](Value index) {
    e.store(none, e.at(tile.lse, index, e.scalarType));
    e.store(zero, e.at(tile.delta, index, e.scalarType));
    e.store(zero,
            e.at(e.score ? tile.inverse : tile.lseRest, index, e.scalarType));
  });
}

Value attention::allFinite(BackwardEmitter &e, Value packed) {
  Value isZero = e.equal(packed, e.constant(0));
  return vector::ReductionOp::create(e, vector::CombiningKind::AND, isZero);
}

void attention::clearMatrix(BackwardEmitter &e, const Matrix &matrix,
                            Value count, int64_t size) {
  int64_t panel = e.registers.panel;
  Value end = e.mul(count, e.integer(panel));
  loop(e, e.integer(0), e.integer(llvm::divideCeil(size, panel)), 1,
       [&](Value plane) {
         Value base = matrix.plane(e, plane);
         loop(e, e.integer(0), end, e.registers.lanes, [&](Value at) {
           e.store(e.constant(0), e.at(base, at, e.scalarType));
         });
       });
}

/// Stores what `of` makes of an address in rows [first, first + count) and the
/// mask there.
static void storeRows(BackwardEmitter &e, const Rows &rows, Value first,
                      Value count, int64_t size,
                      function_ref<Value(Value, Value, Value, Value)> of) {
  int64_t lanes = e.registers.lanes;
  loop(e, e.integer(0), count, 1, [&](Value row) {
    Value base = rowAt(e, rows, e.add(first, row));
    loop(e, e.integer(0), e.integer(size), lanes, [&](Value column) {
      Value mask = columnMask(e, column, size);
      Value address = e.at(base, column, rows.type);
      Value x = of(row, column, address, mask);
      if (mask)
        storeMasked(e, x, address, mask);
      else
        e.store(x, address);
    });
  });
}

void attention::addMatrix(BackwardEmitter &e, const Matrix &matrix,
                          const Rows &rows, Value first, Value count,
                          int64_t size, Value replaces) {
  auto read = [&](Value row, Value column) {
    return e.load(e.vectorType, vectorOf(e, matrix, row, column));
  };
  ifElse(
      e, replaces, TypeRange(),
      [&] {
        storeRows(e, rows, first, count, size,
                  [&](Value row, Value column, Value, Value) {
                    return read(row, column);
                  });
        return SmallVector<Value>();
      },
      [&] {
        storeRows(e, rows, first, count, size,
                  [&](Value row, Value column, Value address, Value mask) {
                    Value old = loadConverted(e, address, rows.type,
                                              e.registers.lanes, mask);
                    return e.addf(old, read(row, column));
                  });
        return SmallVector<Value>();
      });
}

void attention::clearRows(BackwardEmitter &e, const Rows &rows, Value count,
                          int64_t size) {
  storeRows(e, rows, e.integer(0), count, size,
            [&](Value, Value, Value, Value) { return e.constant(0); });
}
