// Gradients of terms: sums of what pairs give, in the order of blocks of keys,
// slices, blocks of queries and panels.
//
//   of pairs     queries are in the lanes, and memory has rows of keys: `lanes`
//                keys at a time are transposed and added
//   of queries   sums of a block of keys in registers, added lane by lane
//   of heads     the same, of all lanes
//   of keys      sums of a slice's queries in scratch memory, by lane
#include "CPU/Attention/Backward/AttentionBackwardTerms.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/VectorBits.h"
#include "CPU/Attention/VectorMemory.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static Attribute constantOf(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant ? Attribute(constant.getValue()) : Attribute();
}

static bool isSame(Value a, Value b) {
  return a == b || (constantOf(a) && constantOf(a) == constantOf(b));
}

static bool isOne(Value value) {
  auto elements = dyn_cast_if_present<DenseFPElementsAttr>(constantOf(value));
  return elements && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isExactlyValue(1.0);
}

void BackwardShape::placeTerms(
    const AttentionBackwardConfig &config,
    function_ref<int64_t(int64_t elements)> reserve) {
  if (config.termGradients.empty())
    return;
  func::FuncOp score = config.score;
  OperandRange results = score.getBody().front().getTerminator()->getOperands();
  unsigned number = results.size() - config.termGradients.size();
  using Factors = TermShape::Factors;
  for (auto [perQuery, perKey] : config.termGradients) {
    TermShape term{perQuery, perKey, number, Factors::own, 0, 0};
    auto *other = llvm::find_if(terms, [&](const TermShape &other) {
      return isSame(results[other.derivative], results[number]);
    });
    if (isSame(results[1], results[number])) {
      term.kind = Factors::slopes;
    } else if (isOne(results[number]) && pair == 1 && !hasWeights) {
      term.kind = Factors::powers;
    } else if (other != terms.end()) {
      term.factors = other->factors;
    } else {
      term.factors = reserve(keyBlock * panel);
    }
    term.parts = term.isOfPairs()  ? reserve(2 * lanes * panel)
                 : term.isOfKeys() ? reserve(keyBlock * lanes)
                                   : reserve(panel);
    terms.push_back(term);
    ++number;
  }
}

//===----------------------------------------------------------------------===//
// Of a panel
//===----------------------------------------------------------------------===//

static void addTo(BackwardEmitter &e, Value address, Value scalar) {
  Value old = e.load(e.scalarType, address);
  e.store(arith::AddFOp::create(e, old, scalar), address);
}

static Value sumOfLanes(BackwardEmitter &e, Value vector) {
  return vector::ReductionOp::create(e, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}

static Value keyPosition(BackwardEmitter &e, const QueryHead &head, Value key) {
  Type type = e.getI32Type();
  return arith::ExtSIOp::create(
      e, e.getI64Type(),
      e.load(type, e.at(head.score.keyPositions, key, type)));
}

TermSums::TermSums(BackwardEmitter &e, const BackwardTile &tile,
                   const QueryHead &head, const QueryBlock &block,
                   const KeyBlock &keys, Value panel)
    : e(e), tile(tile), head(head), keys(keys), panel(panel),
      firstQuery(e.add(block.first, e.mul(panel, e.integer(e.shape.panel)))),
      queryCount(e.least(e.sub(block.queries, firstQuery),
                         e.integer(e.shape.panel))) {}

bool TermSums::areOfPairs() const {
  return llvm::any_of(e.shape.terms,
                      [](const TermShape &term) { return term.isOfPairs(); });
}

/// Two of the sums that are carried belong to each gradient without keys.
unsigned TermSums::firstSum(unsigned number) const {
  return 2 * llvm::count_if(ArrayRef(e.shape.terms).take_front(number),
                            [](const TermShape &term) { return !term.perKey; });
}

SmallVector<Value> TermSums::zeros() {
  return SmallVector<Value>(firstSum(e.shape.terms.size()), e.constant(0));
}

/// P ∘ the derivative of gradient `number`, of the tile of keys at `row`.
SmallVector<Value> TermSums::factorsOf(unsigned number, Value row) {
  Value zero = e.integer(0);
  switch (e.shape.terms[number].kind) {
  case TermShape::Factors::slopes:
    return loadTile(e, tile.slopes.row(e, zero, row));
  case TermShape::Factors::powers:
    return loadTile(e, tile.powers.row(e, panel, row));
  case TermShape::Factors::own:
    return loadTile(e, tile.terms[number].factors.row(e, zero, row));
  }
  llvm_unreachable("unknown factors");
}

/// What stands for no factor of gradient `number`.
Value TermSums::noneOf(unsigned number) {
  return e.shape.terms[number].kind == TermShape::Factors::powers
             ? e.constant(0)
             : mark(e);
}

void TermSums::addTile(Value row, ValueRange tile,
                       MutableArrayRef<Value> sums) {
  for (unsigned number = 0; number < e.shape.terms.size(); ++number)
    addTile(number, row,
            timesFactors(e, factorsOf(number, row), tile, noneOf(number)),
            sums);
}

void TermSums::addTile(unsigned number, Value row, ValueRange tile,
                       MutableArrayRef<Value> sums) {
  const BackwardShape &s = e.shape;
  const TermShape &term = s.terms[number];
  Value parts = this->tile.terms[number].parts;
  if (term.isOfPairs())
    return storeTile(e, tile, vectorAt(e, parts, e.sub(row, first), 0));
  if (!term.perKey) {
    for (auto [i, value] : llvm::enumerate(tile)) {
      Value &sum = sums[firstSum(number) + i % 2];
      sum = e.addf(sum, value);
    }
    return;
  }
  Value address = e.at(parts, e.mul(row, e.integer(s.lanes)), e.scalarType);
  for (int64_t i = 0; i < s.tile; ++i) {
    Value at = e.at(address, i * s.lanes, e.scalarType);
    Value both = e.addf(tile[2 * i], tile[2 * i + 1]);
    e.store(e.addf(e.load(e.vectorType, at), both), at);
  }
}

void TermSums::end(ValueRange sums) {
  Value zero = e.integer(0);
  for (auto [number, term] : llvm::enumerate(e.shape.terms)) {
    if (term.perKey)
      continue;
    ValueRange own = sums.slice(firstSum(number), 2);
    const TermRows &rows = head.terms[number];
    if (!term.perQuery) {
      addTo(e, rows.base, sumOfLanes(e, e.addf(own[0], own[1])));
      continue;
    }
    Value parts = tile.terms[number].parts;
    for (int64_t half = 0; half < 2; ++half)
      e.store(own[half], vectorAt(e, parts, zero, half));
    loop(e, zero, queryCount, 1, [&](Value lane) {
      Value offset = e.mul(e.add(firstQuery, lane), rows.query);
      addTo(e, e.at(rows.base, offset, e.scalarType),
            e.load(e.scalarType, e.at(parts, lane, e.scalarType)));
    });
  }
}

//===----------------------------------------------------------------------===//
// Of pairs
//===----------------------------------------------------------------------===//

void TermSums::endKeys(Value endRow) {
  Value count = e.sub(e.least(endRow, keys.valid), first);
  for (unsigned number = 0; number < e.shape.terms.size(); ++number)
    if (e.shape.terms[number].isOfPairs())
      addPairs(number, count);
}

SmallVector<Ahead> TermSums::lookAhead(Value row, int64_t iterations) {
  const BackwardShape &s = e.shape;
  SmallVector<Ahead> all;
  if (!areOfPairs())
    return all;
  // The tiles of `lanes` keys share the panel's rows.
  int64_t share = llvm::divideCeil(s.tile * s.panel, s.lanes * iterations);
  Value lane = e.mul(e.sub(row, first), e.integer(s.panel / s.lanes));
  Value next = e.add(e.add(keys.first, first), e.integer(s.lanes));
  Value position =
      keyPosition(e, head, e.least(next, e.sub(tile.keys, e.integer(1))));
  for (auto [term, rows] : llvm::zip_equal(s.terms, head.terms)) {
    if (!term.isOfPairs())
      continue;
    Value offset = e.add(e.mul(e.add(firstQuery, lane), rows.query),
                         e.mul(position, rows.key));
    Value stride = e.mul(rows.query, e.integer(share * s.elementBytes));
    for (int64_t i = 0; i < share; ++i) {
      all.push_back({e.at(rows.base, offset, e.scalarType), stride});
      offset = e.add(offset, rows.query);
    }
  }
  return all;
}

/// Adds what the panel's queries and `count` keys give.
void TermSums::addPairs(unsigned number, Value count) {
  const BackwardShape &s = e.shape;
  const TermRows &rows = head.terms[number];
  Value parts = tile.terms[number].parts;
  Value byQuery = e.at(parts, s.lanes * s.panel, e.scalarType);
  for (int64_t half = 0; half < 2; ++half) {
    SmallVector<Value> vectors;
    for (int64_t key = 0; key < s.lanes; ++key)
      vectors.push_back(
          e.load(e.vectorType, vectorAt(e, parts, e.integer(key), half)));
    transpose(e, vectors);
    for (auto [lane, vector] : llvm::enumerate(vectors))
      e.store(vector,
              e.at(byQuery,
                   (half * s.lanes + static_cast<int64_t>(lane)) * s.lanes,
                   e.scalarType));
  }
  Value zero = e.integer(0), firstKey = e.add(keys.first, first);
  Value last = e.sub(count, e.integer(1));
  Value firstPosition = keyPosition(e, head, firstKey);
  Value step =
      e.sub(keyPosition(e, head, e.add(firstKey, last)), firstPosition);
  Value isRow =
      arith::AndIOp::create(e, e.compare(Predicate::eq, step, last),
                            e.compare(Predicate::eq, rows.key, e.integer(1)));
  // Never a multiple of the lanes, so that the mask is a real one.
  Value mask = tailMask(e, count, /*size=*/1, s.lanes);
  loop(e, zero, queryCount, 1, [&](Value lane) {
    Value from = e.at(byQuery, e.mul(lane, e.integer(s.lanes)), e.scalarType);
    Value row = e.at(rows.base, e.mul(e.add(firstQuery, lane), rows.query),
                     e.scalarType);
    ifElse(
        e, isRow, TypeRange(),
        [&] {
          Value address = e.at(row, firstPosition, e.scalarType);
          Value old = loadConverted(e, address, e.scalarType, s.lanes, mask);
          storeMasked(e, e.addf(old, e.load(e.vectorType, from)), address,
                      mask);
          return SmallVector<Value>();
        },
        [&] {
          loop(e, zero, count, 1, [&](Value key) {
            Value position = keyPosition(e, head, e.add(firstKey, key));
            addTo(e, e.at(row, e.mul(position, rows.key), e.scalarType),
                  e.load(e.scalarType, e.at(from, key, e.scalarType)));
          });
          return SmallVector<Value>();
        });
  });
}

//===----------------------------------------------------------------------===//
// Of keys
//===----------------------------------------------------------------------===//

/// `body` for each gradient of keys, and each row of the block that the slice
/// shows: its number, and where its sums are.
static void forEachKeySum(
    BackwardEmitter &e, const BackwardTile &tile, const KeyBlock &keys,
    const Slice &slice,
    function_ref<void(unsigned number, Value row, Value address)> body) {
  Value from = e.greatest(e.sub(slice.k0, keys.first), e.integer(0));
  Value to = e.least(e.sub(slice.k1, keys.first), keys.valid);
  for (unsigned number = 0; number < e.shape.terms.size(); ++number)
    if (e.shape.terms[number].isOfKeys())
      loop(e, from, to, 1, [&](Value row) {
        Value offset = e.mul(row, e.integer(e.shape.lanes));
        body(number, row, e.at(tile.terms[number].parts, offset, e.scalarType));
      });
}

void attention::clearKeySums(BackwardEmitter &e, const BackwardTile &tile,
                             const KeyBlock &keys, const Slice &slice) {
  forEachKeySum(e, tile, keys, slice, [&](unsigned, Value, Value address) {
    e.store(e.constant(0), address);
  });
}

void attention::addKeySums(BackwardEmitter &e, const BackwardTile &tile,
                           const QueryHead &head, const KeyBlock &keys,
                           const Slice &slice) {
  forEachKeySum(
      e, tile, keys, slice, [&](unsigned number, Value row, Value address) {
        const TermRows &rows = head.terms[number];
        Value position = keyPosition(e, head, e.add(keys.first, row));
        Value sum = sumOfLanes(e, e.load(e.vectorType, address));
        addTo(e, e.at(rows.base, e.mul(position, rows.key), e.scalarType), sum);
      });
}
