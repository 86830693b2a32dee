// The score function: one pass over the scores of a panel, between products and
// powers. Queries are in the lanes, so what depends on a key is one value for
// all of them; what depends on queries is laid out by lane once per tile. What
// depends on both lies in rows of keys: it is transposed, `lanes` keys at a
// time.
#include "AttentionScore.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value attention::slotOf(Emitter &e, const Tile &tile, unsigned term,
                        Value index) {
  Value area =
      e.at(tile.scratch,
           e.shape.terms + static_cast<int64_t>(term) * e.shape.queryBlock * 8,
           e.getI8Type());
  return e.at(area, index, e.getI64Type());
}

Type attention::storageOf(Type element) { return ElementForm(element).storage; }

void attention::packTerms(Emitter &e, const Tile &tile) {
  const Shape &s = e.shape;
  Value lastQuery = e.sub(tile.queries, e.integer(1));
  Value positions = e.at(tile.scratch, s.positions, e.getI8Type());
  Value count = e.mul(tile.panels, e.integer(s.panel));
  e.loop(e.integer(0), count, 1, [&](Value index) {
    Value row = e.least(e.add(tile.firstQuery, index), lastQuery);
    Value position =
        e.load(e.getI32Type(), e.at(tile.queryPositions, row, e.getI32Type()));
    e.store(position, e.at(positions, index, e.getI32Type()));
    unsigned slot = 0;
    for (auto [number, term] : llvm::enumerate(tile.terms)) {
      unsigned firstPair = e.perQuery + e.perKey + e.perHead;
      bool isPair = number >= firstPair && number < firstPair + e.pair;
      if (number >= e.perQuery && !isPair)
        continue;
      Value offset =
          e.add(e.mul(tile.batch, term.batch), e.mul(row, term.query));
      Value target = slotOf(e, tile, slot++, index);
      if (isPair) {
        e.store(e.add(offset, e.mul(tile.head, term.head)), target);
        continue;
      }
      Type storage = storageOf(term.element);
      e.store(e.load(storage, e.at(term.base, offset, storage)), target);
    }
  });
}

/// Elements in registers from elements as memory holds them.
Value ScorePass::widen(Value raw, Type element) {
  ElementForm form(element);
  if (form.isBool)
    return arith::CmpIOp::create(
        e, arith::CmpIPredicate::ne, raw,
        arith::ConstantOp::create(e, e.getZeroAttr(raw.getType())));
  if (form.storage == form.compute)
    return raw;
  Type compute = lanesOf(form.compute);
  if (form.storage.isF16())
    return arith::ExtFOp::create(e, compute, raw);
  auto words = lanesOf(e.getI32Type());
  Value wide = arith::ExtUIOp::create(e, words, raw);
  Value shift = arith::ConstantOp::create(
      e, SplatElementsAttr::get(words, Attribute(e.getI32IntegerAttr(16))));
  return arith::BitcastOp::create(e, compute,
                                  arith::ShLIOp::create(e, wide, shift));
}

/// Elements as memory holds them, at `offsets` elements from `base`.
Value ScorePass::gather(Value base, Value offsets, Type storage) {
  Value addresses = LLVM::GEPOp::create(e, lanesOf(e.pointerType), storage,
                                        base, ArrayRef<LLVM::GEPArg>{offsets});
  auto mask = lanesOf(e.getI1Type());
  Value all = arith::ConstantOp::create(e, DenseElementsAttr::get(mask, true));
  return LLVM::masked_gather::create(
      e, lanesOf(storage), addresses, all, ValueRange(),
      e.getI32IntegerAttr(storage.getIntOrFloatBitWidth() / 8));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Element of term `number` for each query of a half.
Value ScorePass::element(unsigned number, int64_t half) {
  const Term &term = tile.terms[number];
  Type storage = storageOf(term.element);
  auto spread = [&](Value address) {
    return widen(e.splat(e.load(storage, address)), term.element);
  };
  if (number < e.perQuery) {
    // Slots are eight bytes apart.
    auto slots = lanesOf(e.getI64Type());
    Value raw = e.load(slots, slotOf(e, tile, number, laneIndex(half)));
    if (storage.getIntOrFloatBitWidth() < 64) {
      Type bits = e.getIntegerType(storage.getIntOrFloatBitWidth());
      raw = arith::TruncIOp::create(e, lanesOf(bits), raw);
    }
    if (raw.getType() != lanesOf(storage))
      raw = arith::BitcastOp::create(e, lanesOf(storage), raw);
    return widen(raw, term.element);
  }
  if (number < e.perQuery + e.perKey) {
    Value offset = e.add(e.mul(tile.batch, term.batch), e.mul(key, term.key));
    return spread(e.at(term.base, offset, storage));
  }
  if (number < firstPair()) {
    Value offset =
        e.add(e.mul(tile.batch, term.batch), e.mul(tile.head, term.head));
    return spread(e.at(term.base, offset, storage));
  }
  unsigned pair = number - firstPair();
  Value raw =
      isPacked(term)
          ? fromWords(
                e.load(lanesOf(e.laneType), packedAt(pair, keyNumber, half)),
                storage)
          : gather(columnOf(term, position), offsetsOf(pair, half), storage);
  return widen(raw, term.element);
}

/// The element of a table that a slice of one element reads.
Value ScorePass::lookUp(Operation *slice, ArrayRef<Value> operands) {
  auto type = cast<RankedTensorType>(slice->getOperand(0).getType());
  auto wide = lanesOf(e.getI64Type());
  Value offset;
  for (auto [dim, index] : llvm::enumerate(operands.drop_front())) {
    Value at = index;
    if (cast<VectorType>(index.getType()).getElementType() != e.getI64Type())
      at = arith::ExtSIOp::create(e, wide, index);
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          e,
          SplatElementsAttr::get(wide, Attribute(e.getI64IntegerAttr(value))));
    };
    at = arith::MaxSIOp::create(e, at, number(0));
    at = arith::MinSIOp::create(e, at, number(type.getDimSize(dim) - 1));
    offset = offset ? arith::AddIOp::create(
                          e,
                          arith::MulIOp::create(e, offset,
                                                number(type.getDimSize(dim))),
                          at)
                          .getResult()
                    : at;
  }
  Type element = type.getElementType();
  return widen(gather(operands[0], offset, storageOf(element)), element);
}

SmallVector<Value> ScorePass::apply(Value score, int64_t half) {
  Block &body = e.score.getBody().front();
  DenseMap<Value, Value> values;
  Value positions = e.at(tile.scratch, e.shape.positions, e.getI8Type());
  auto words = lanesOf(e.getI32Type());
  Value head = arith::TruncIOp::create(e, e.getI32Type(), tile.globalHead);
  Value fixed[] = {
      score, e.splat(head),
      e.load(words, e.at(positions, laneIndex(half), e.getI32Type())),
      e.splat(position)};
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (argument.use_empty())
      continue;
    if (number < 4)
      values[argument] = fixed[number];
    else if (number - 4 < firstPair() + e.pair)
      values[argument] = element(number - 4, half);
    else
      values[argument] = tile.terms[number - 4].base;
  }
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    Value &result = values[op.getResult(0)];
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      result = scalars
                   .constant(cast<ElementsAttr>(constant.getValue()), 0,
                             getElementTypeOrSelf(constant.getType()))
                   .value;
      continue;
    }
    if (isa<stablehlo::DynamicSliceOp>(op)) {
      result = lookUp(&op, operands);
      continue;
    }
    if (isa<stablehlo::ReshapeOp>(op)) {
      result = operands[0];
      continue;
    }
    SmallVector<Scalar> inputs;
    for (Value operand : operands)
      inputs.push_back({operand, {}});
    Value computed = scalars.apply(&op, inputs).value;
    values[op.getResult(0)] = computed;
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return values.at(value); });
}

SmallVector<Ahead> attention::lookAheadPairs(Emitter &e, const Tile &tile,
                                             Value panel, Value key) {
  Value lastKey = e.sub(tile.keys, e.integer(1));
  return ScorePass(e, tile, panel).lookAhead(e.least(key, lastKey));
}

SmallVector<Value> attention::applyScore(Emitter &e, const Tile &tile,
                                         Value panel, Value firstKey,
                                         Value from, Value to) {
  const Shape &s = e.shape;
  Value none = e.constant(-std::numeric_limits<double>::infinity());
  Value lastKey = e.sub(tile.keys, e.integer(1));
  Value scores = e.at(tile.scratch, s.scores, e.getI8Type());
  Value weights = e.at(tile.scratch, s.weights, e.getI8Type());
  ScorePass pass(e, tile, panel);
  auto applyRow = [&](Value row, Value number, ValueRange carried) {
    SmallVector<Value> next;
    pass.setKey(e.least(e.add(firstKey, row), lastKey), number);
    for (int64_t half = 0; half < 2; ++half) {
      Value index =
          e.add(e.mul(row, e.integer(s.panel)), e.integer(half * s.lanes));
      Value address = e.at(scores, index, e.scalarType);
      Value product = e.load(e.vectorType, address);
      SmallVector<Value> made = pass.apply(e.mulf(product, tile.product), half);
      // Keys that no band shows stay hidden, whatever the function makes of it.
      Value isHidden = e.equal(product, none);
      Value exponent = e.select(isHidden, none, made[0]);
      e.store(exponent, address);
      if (made.size() == 2)
        e.store(e.select(isHidden, e.constant(1), made[1]),
                e.at(weights, index, e.scalarType));
      next.push_back(e.larger(exponent, carried[half]));
    }
    return next;
  };
  return e.loop(
      from, to, s.lanes, {none, none}, [&](Value first, ValueRange carried) {
        Value end = e.least(e.add(first, e.integer(s.lanes)), to);
        Value firstRow = e.least(e.add(firstKey, first), lastKey);
        Value lastRow =
            e.least(e.sub(e.add(firstKey, end), e.integer(1)), lastKey);
        pass.packPairs(firstRow, lastRow);
        return e.loop(first, end, 1, carried,
                      [&](Value row, ValueRange inner) -> SmallVector<Value> {
                        return applyRow(row, e.sub(row, first), inner);
                      });
      });
}

void attention::clearWeights(Emitter &e, const Tile &tile, Value from,
                             Value to) {
  const Shape &s = e.shape;
  Value weights = e.at(tile.scratch, s.weights, e.getI8Type());
  e.loop(from, to, 1, [&](Value row) {
    for (int64_t half = 0; half < 2; ++half) {
      Value index =
          e.add(e.mul(row, e.integer(s.panel)), e.integer(half * s.lanes));
      e.store(e.constant(1), e.at(weights, index, e.scalarType));
    }
  });
}
