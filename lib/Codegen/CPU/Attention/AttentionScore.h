/// Score functions in kernels: what they read, and one pass of one over a panel
/// of scores. The forward kernels and those of gradients have queries in the
/// lanes, so they share all of it.
#ifndef SP_LIB_CODEGEN_ATTENTIONSCORE_H
#define SP_LIB_CODEGEN_ATTENTIONSCORE_H

#include "CPU/Attention/AttentionPieces.h"
#include "CPU/Attention/ControlFlow.h"
#include "Scalar/ScalarEmitter.h"

namespace mlir::sp::attention {

/// A kernel's score function, or none, and how many of its terms are values of
/// queries, of keys, of heads and of pairs. The others are tables.
struct ScoreFunction {
  template <typename Config>
  explicit ScoreFunction(const Config &config)
      : function(config.score), perQuery(config.perQuery),
        perKey(config.perKey), perHead(config.perHead), pair(config.pair) {}

  explicit operator bool() const { return static_cast<bool>(function); }
  unsigned firstPair() const { return perQuery + perKey + perHead; }
  unsigned results() const { return function ? function.getNumResults() : 0; }

  mutable func::FuncOp function;
  unsigned perQuery, perKey, perHead, pair;
};

/// Byte offsets in the scratch memory of what it reads of a block of queries.
///   positions [panel][lane]         of queries, 32 bits each
///   terms     [term][panel][lane]   8 bytes each: of a query's values the
///                                   element, of pairs the offset of a query
///   pairs     [term][lane][panel]   elements of pairs for `lanes` keys, in
///                                   words of laneType
struct ScoreAreas {
  ScoreAreas() = default;
  ScoreAreas(const ScoreFunction &function, const Registers &registers,
             int64_t queryBlock, function_ref<int64_t(int64_t)> reserveBytes);

  int64_t queryBlock, positions, terms, pairs;
};

/// What a score function reads of a launch: base and strides {batch, head,
/// query, key} in elements.
struct Term {
  Type element;
  Value base;
  Value batch, head, query, key;
};

/// Where a score function is applied: the rows of one head of one batch.
struct ScoreSite {
  const ScoreFunction *function;
  const ScoreAreas *areas;
  Value scratch;
  Value queryPositions, keyPositions;
  SmallVector<Term> terms;
  Value queries, keys; ///< valid rows in all
  Value batch, head;   ///< local numbers
  Value globalHead;
};

/// The site's part that a launch says. Buffer `positions` is the one of query
/// positions, which key positions and terms follow; size `strides` is the first
/// of the terms' strides.
ScoreSite locateScore(Arguments &launch, const ScoreFunction &function,
                      const ScoreAreas &areas, int64_t positions,
                      int64_t strides);

/// Puts what the function reads of the block of queries at row `firstQuery`
/// into scratch memory.
void packTerms(VectorEmitter &e, const ScoreSite &site, Value firstQuery,
               Value panels);

/// Applies the score function to one vector of scores at a time.
class ScorePass {
public:
  ScorePass(VectorEmitter &e, const ScoreSite &site, Value panel)
      : e(e), r(e.registers), site(site), function(*site.function),
        scalars(e, e.getLoc(), r.lanes),
        firstLane(e.mul(panel, e.integer(r.panel))) {}

  /// What to ask for in `iterations` steps at the register tile of key `row`,
  /// to be near when its pairs are packed.
  SmallVector<Ahead> lookAhead(Value row, int64_t iterations);
  /// `body` for rows [from, to) of the block of keys at `firstKey`, in each of
  /// which it may apply the function.
  SmallVector<Value> overKeys(Value firstKey, Value from, Value to,
                              ValueRange initial, CarriedBody body);
  /// The results for half `half` of the panel.
  SmallVector<Value> apply(Value score, int64_t half);

private:
  VectorType lanesOf(Type element) const {
    return VectorType::get(r.lanes, element);
  }
  Value laneIndex(int64_t half) {
    return e.add(firstLane, e.integer(half * r.lanes));
  }
  Value positionOf(Value row) {
    return e.load(e.getI32Type(), e.at(site.keyPositions, row, e.getI32Type()));
  }
  bool isPacked(const Term &term) const;
  void packPairs(Value first, Value last);
  Value packedAt(unsigned pair, Value number, int64_t half);
  Value offsetsOf(unsigned pair, int64_t half);
  Value stepOf(Value first, Value last);
  Value columnOf(const Term &term, Value position);
  void packRows(unsigned pair, Value first, Value last);
  void packElements(unsigned pair, Value first, Value last);
  Value toWords(Value raw);
  Value fromWords(Value words, Type storage);
  Value element(unsigned number, int64_t half);
  Value widen(Value raw, Type element);
  Value gather(Value base, Value offsets, Type storage);
  Value lookUp(Operation *slice, ArrayRef<Value> operands);

  VectorEmitter &e;
  const Registers &r;
  const ScoreSite &site;
  const ScoreFunction &function;
  ScalarEmitter scalars;
  Value firstLane;
  /// Of the row that overKeys is at: the key, its number since pairs were laid
  /// out, its position.
  Value key, keyNumber, position;
};

/// Eight bytes for query `index` of the block, of term `term`.
Value slotOf(VectorEmitter &e, const ScoreSite &site, unsigned term,
             Value index);
/// An element as memory holds it: what a slot keeps, and what lanes load.
Type storageOf(Type element);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONSCORE_H
