// Packs a block of keys and values for the register tiles, and asks for the
// next block's rows meanwhile.
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionParts.h"
#include "CPU/Attention/VectorBits.h"
#include "CPU/Attention/VectorMemory.h"
#include "CPU/Attention/VectorWords.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using OfCell = function_ref<Value(Value row, Value column)>;

/// Stores what `read` gives for rows [0, valid) of `size` columns, then zeros
/// up to row `count`, in vectors of `type`; `target` gives addresses. Returns
/// what `note` makes of `noted` and of each vector in turn.
static SmallVector<Value>
packRows(Emitter &e, Value valid, Value count, int64_t size, VectorType type,
         OfCell read, OfCell target, ValueRange noted = {},
         function_ref<Value(Value noted, Value vector)> note = {}) {
  int64_t chunk = type.getNumElements();
  SmallVector<Value> made = loop(
      e, e.integer(0), valid, 1, noted, [&](Value row, ValueRange carried) {
        return loop(e, e.integer(0), e.integer(size), chunk, carried,
                    [&](Value column, ValueRange so) {
                      Value vector = read(row, column);
                      e.store(vector, target(row, column));
                      SmallVector<Value> next;
                      if (note)
                        next.push_back(note(so[0], vector));
                      return next;
                    });
      });
  loop(e, valid, count, 1, [&](Value row) {
    loop(e, e.integer(0), e.integer(size), chunk, [&](Value column) {
      e.store(arith::ConstantOp::create(e, e.getZeroAttr(type)),
              target(row, column));
    });
  });
  return made;
}

/// The larger of `most` and the magnitudes of words' elements, as bits of the
/// compute type.
static Value noteMagnitudes(Emitter &e, Value most, Value words) {
  Value bits = magnitudes(e, words);
  if (e.shape.pair == 2) {
    // A bfloat16 is the upper half of a float.
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          e, SplatElementsAttr::get(cast<VectorType>(bits.getType()),
                                    APInt(32, static_cast<uint64_t>(value))));
    };
    Value second = arith::AndIOp::create(e, bits, number(0x7FFF0000));
    Value first = arith::ShLIOp::create(
        e, arith::AndIOp::create(e, bits, number(0x7FFF)), number(16));
    bits = arith::MaxSIOp::create(e, first, second);
  }
  return arith::MaxSIOp::create(e, most, bits);
}

/// Values [column, column + tile) of the keys of step `step`, as words.
static Value readValues(Emitter &e, const Rows &rows, Value first, Value valid,
                        Value step, Value column) {
  const Shape &s = e.shape;
  Value mask =
      tailMask(e, e.sub(e.integer(s.valueSize), column), s.valueSize, s.tile);
  auto address = [&](Value row) {
    Value offset = e.mul(e.add(first, row), rows.stride);
    return e.at(rows.base, e.add(offset, column), rows.type);
  };
  if (s.pair == 1)
    return loadConverted(e, address(step), rows.type, s.tile, mask);
  Value row = e.mul(step, e.integer(s.pair));
  Value next = e.add(row, e.integer(1));
  Value isValid = e.compare(arith::CmpIPredicate::slt, next, valid);
  Value even = loadStored(e, address(row), rows.type, s.tile, mask);
  Value odd = loadStored(e, address(e.select(isValid, next, row)), rows.type,
                         s.tile, mask);
  Value none = arith::ConstantOp::create(e, e.getZeroAttr(odd.getType()));
  return joinHalves(e, even, e.select(isValid, odd, none));
}

Value attention::packKeys(Emitter &e, const Tile &tile, Value first,
                          Value count) {
  const Shape &s = e.shape;
  Value valid = e.least(count, e.sub(tile.keys, first));
  Value keys = e.at(tile.scratch, s.keys, e.getI8Type());
  Value values = e.at(tile.scratch, s.values, e.getI8Type());
  packRows(
      e, valid, count, llvm::divideCeil(s.headSize, s.pair), e.vectorType,
      [&](Value row, Value word) {
        Value column = e.mul(word, e.integer(s.pair));
        Value offset = e.mul(e.add(first, row), tile.k.stride);
        return loadWords(e,
                         e.at(tile.k.base, e.add(offset, column), tile.k.type),
                         tailMask(e, e.sub(e.integer(s.headSize), column),
                                  s.headSize, s.lanes * s.pair));
      },
      [&](Value row, Value word) {
        Value index = e.add(e.mul(row, e.integer(s.headWords)), word);
        return e.at(keys, index, e.scalarType);
      });
  auto none = VectorType::get(s.tile, e.laneType);
  Value most = packRows(
      e, stepsOf(e, e.add(valid, e.integer(s.pair - 1))), stepsOf(e, count),
      s.valueSize, VectorType::get(s.tile, e.scalarType),
      [&](Value step, Value column) {
        return readValues(e, tile.v, first, valid, step, column);
      },
      [&](Value step, Value column) {
        Value index = e.add(e.mul(column, e.integer(s.stripe / s.tile)),
                            e.mul(step, e.integer(s.tile)));
        return e.at(values, index, e.scalarType);
      },
      Value(arith::ConstantOp::create(e, e.getZeroAttr(none))),
      [&](Value most, Value words) {
        return noteMagnitudes(e, most, words);
      })[0];
  return vector::ReductionOp::create(e, vector::CombiningKind::MAXSI, most);
}

// Packing alone would wait for memory: rows are cut and far apart, which the
// processor's own prefetching does not foresee. The panels share the requests
// out, so that they hide under arithmetic.
SmallVector<Ahead> attention::lookAhead(Emitter &e, const Tile &tile,
                                        Value panel, Value row,
                                        const Next &next) {
  const Shape &s = e.shape;
  int64_t storedBytes = e.storedType.getIntOrFloatBitWidth() / 8;
  auto strideFor = [&](int64_t rowBytes) {
    int64_t steps = s.headSteps();
    return e.integer(s.unroll * llvm::divideCeil(rowBytes, steps));
  };
  // Small blocks of queries are not worth more.
  constexpr int64_t most = 4;
  SmallVector<Ahead> all;
  int64_t share =
      std::min<int64_t>(most, llvm::divideCeil(2 * s.tile, s.panels));
  Value key = e.add(next.key, row);
  Value lastKey = e.sub(tile.keys, e.integer(1));
  for (int64_t i = 0; i < share; ++i) {
    Value number = e.add(e.mul(panel, e.integer(share)), e.integer(i));
    Value isValue =
        e.compare(arith::CmpIPredicate::sge, number, e.integer(s.tile));
    Value index = arith::AndIOp::create(e, number, e.integer(s.tile - 1));
    index = e.least(e.add(key, index), lastKey);
    Value base = e.select(isValue, tile.v.base, tile.k.base);
    Value stride = e.select(isValue, tile.v.stride, tile.k.stride);
    all.push_back({e.at(base, e.mul(index, stride), e.storedType),
                   strideFor(std::max(s.headSize, s.valueSize) * storedBytes)});
  }

  share =
      std::min<int64_t>(most, llvm::divideCeil(s.panel * s.tile, s.keyBlock));
  Value first = e.add(e.mul(panel, e.integer(s.panel)),
                      e.mul(arith::DivUIOp::create(e, row, e.integer(s.tile)),
                            e.integer(share)));
  for (int64_t i = 0; i < share; ++i) {
    Value query = e.add(first, e.integer(i));
    auto add = [&](Value base, const Rows &rows, int64_t rowBytes) {
      Value address = e.at(base, e.mul(query, rows.stride), rows.type);
      all.push_back(
          {e.select(next.isTile, address, tile.scratch), strideFor(rowBytes)});
    };
    add(tile.nextQ, tile.q, s.headSize * storedBytes);
    add(tile.nextO, tile.o, s.valueSize * s.elementBytes);
  }
  return all;
}
