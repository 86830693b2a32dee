// The score function: one pass over the scores of a panel, between products and
// powers. Queries are in the lanes, so what depends on a key is one value for
// all of them; what depends on queries is laid out by lane once per site. What
// depends on both lies in rows of keys: it is transposed, `lanes` keys at a
// time.
#include "CPU/Attention/AttentionScore.h"
#include "CPU/Attention/ControlFlow.h"
#include "Scalar/ScalarApply.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

ScoreAreas::ScoreAreas(const ScoreFunction &function,
                       const Registers &registers, int64_t queryBlock,
                       function_ref<int64_t(int64_t)> reserveBytes)
    : queryBlock(queryBlock) {
  positions = function ? reserveBytes(queryBlock * sizeof(int32_t)) : 0;
  terms = reserveBytes((function.perQuery + function.pair) * queryBlock *
                       sizeof(int64_t));
  pairs = reserveBytes(function.pair * registers.lanes * registers.panel *
                       registers.elementBytes);
}

ScoreSite attention::locateScore(Arguments &launch,
                                 const ScoreFunction &function,
                                 const ScoreAreas &areas, int64_t positions,
                                 int64_t strides) {
  ScoreSite site;
  site.function = &function;
  site.areas = &areas;
  site.scratch = launch.scratch;
  site.queryPositions = launch.buffer(positions);
  site.keyPositions = launch.buffer(positions + 1);
  ArrayRef<Type> inputs = function.function.getArgumentTypes().drop_front(4);
  for (auto [number, type] : llvm::enumerate(inputs)) {
    int64_t at = strides + 4 * static_cast<int64_t>(number);
    site.terms.push_back({getElementTypeOrSelf(type),
                          launch.buffer(positions + 2 + number),
                          launch.size(at), launch.size(at + 1),
                          launch.size(at + 2), launch.size(at + 3)});
  }
  return site;
}

Value attention::slotOf(VectorEmitter &e, const ScoreSite &site, unsigned term,
                        Value index) {
  const ScoreAreas &areas = *site.areas;
  Value area =
      e.at(site.scratch,
           areas.terms + static_cast<int64_t>(term) * areas.queryBlock * 8,
           e.getI8Type());
  return e.at(area, index, e.getI64Type());
}

Type attention::storageOf(Type element) { return ElementForm(element).storage; }

void attention::packTerms(VectorEmitter &e, const ScoreSite &site,
                          Value firstQuery, Value panels) {
  const ScoreFunction &function = *site.function;
  Value lastQuery = e.sub(site.queries, e.integer(1));
  Value positions = e.at(site.scratch, site.areas->positions, e.getI8Type());
  Value count = e.mul(panels, e.integer(e.registers.panel));
  loop(e, e.integer(0), count, 1, [&](Value index) {
    Value row = e.least(e.add(firstQuery, index), lastQuery);
    Value position =
        e.load(e.getI32Type(), e.at(site.queryPositions, row, e.getI32Type()));
    e.store(position, e.at(positions, index, e.getI32Type()));
    unsigned slot = 0;
    for (auto [number, term] : llvm::enumerate(site.terms)) {
      unsigned firstPair = function.firstPair();
      bool isPair = number >= firstPair && number < firstPair + function.pair;
      if (number >= function.perQuery && !isPair)
        continue;
      Value offset =
          e.add(e.mul(site.batch, term.batch), e.mul(row, term.query));
      Value target = slotOf(e, site, slot++, index);
      if (isPair) {
        e.store(e.add(offset, e.mul(site.head, term.head)), target);
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
  const Term &term = site.terms[number];
  Type storage = storageOf(term.element);
  auto spread = [&](Value address) {
    return widen(e.splat(e.load(storage, address)), term.element);
  };
  if (number < function.perQuery) {
    // Slots are eight bytes apart.
    auto slots = lanesOf(e.getI64Type());
    Value raw = e.load(slots, slotOf(e, site, number, laneIndex(half)));
    if (storage.getIntOrFloatBitWidth() < 64) {
      Type bits = e.getIntegerType(storage.getIntOrFloatBitWidth());
      raw = arith::TruncIOp::create(e, lanesOf(bits), raw);
    }
    if (raw.getType() != lanesOf(storage))
      raw = arith::BitcastOp::create(e, lanesOf(storage), raw);
    return widen(raw, term.element);
  }
  if (number < function.perQuery + function.perKey) {
    Value offset = e.add(e.mul(site.batch, term.batch), e.mul(key, term.key));
    return spread(e.at(term.base, offset, storage));
  }
  if (number < function.firstPair()) {
    Value offset =
        e.add(e.mul(site.batch, term.batch), e.mul(site.head, term.head));
    return spread(e.at(term.base, offset, storage));
  }
  unsigned pair = number - function.firstPair();
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
  Block &body = function.function.getBody().front();
  DenseMap<Value, Value> values;
  Value positions = e.at(site.scratch, site.areas->positions, e.getI8Type());
  auto words = lanesOf(e.getI32Type());
  Value head = arith::TruncIOp::create(e, e.getI32Type(), site.globalHead);
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
    else if (number - 4 < function.firstPair() + function.pair)
      values[argument] = element(number - 4, half);
    else
      values[argument] = site.terms[number - 4].base;
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
    Value computed = applyToScalars(scalars, &op, inputs).value;
    values[op.getResult(0)] = computed;
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return values.at(value); });
}

SmallVector<Value> ScorePass::overKeys(Value firstKey, Value from, Value to,
                                       ValueRange initial, CarriedBody body) {
  Value lastKey = e.sub(site.keys, e.integer(1));
  return loop(e, from, to, r.lanes, initial,
              [&](Value first, ValueRange carried) {
                Value end = e.least(e.add(first, e.integer(r.lanes)), to);
                Value firstRow = e.least(e.add(firstKey, first), lastKey);
                Value lastRow =
                    e.least(e.sub(e.add(firstKey, end), e.integer(1)), lastKey);
                packPairs(firstRow, lastRow);
                return loop(e, first, end, 1, carried,
                            [&](Value row, ValueRange inner) {
                              key = e.least(e.add(firstKey, row), lastKey);
                              position = positionOf(key);
                              keyNumber = e.sub(row, first);
                              return body(row, inner);
                            });
              });
}
