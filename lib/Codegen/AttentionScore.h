/// One pass of a score function over a panel of scores.
#ifndef SP_LIB_CODEGEN_ATTENTIONSCORE_H
#define SP_LIB_CODEGEN_ATTENTIONSCORE_H

#include "AttentionParts.h"
#include "ScalarEmitter.h"

namespace mlir::sp::attention {

/// Eight bytes for query `index` of the tile, of term `term`.
Value slotOf(Emitter &e, const Tile &tile, unsigned term, Value index);
/// An element as memory holds it: what a slot keeps, and what lanes load.
Type storageOf(Type element);

/// Applies the score function to one vector of scores at a time.
class ScorePass {
public:
  ScorePass(Emitter &e, const Tile &tile, Value panel)
      : e(e), tile(tile), scalars(e, e.getLoc(), e.shape.lanes),
        firstLane(e.mul(panel, e.integer(e.shape.panel))) {}

  /// Lays out the elements of pairs for keys [first, last].
  void packPairs(Value first, Value last);
  /// What to ask for at the register tile of key `row`, to be near when its
  /// pairs are packed.
  SmallVector<Ahead> lookAhead(Value row);
  /// What is the same for all queries of the panel; `number` counts the keys
  /// since they were laid out.
  void setKey(Value row, Value number) {
    key = row;
    keyNumber = number;
    position = positionOf(row);
  }
  /// The results for half `half` of the panel.
  SmallVector<Value> apply(Value score, int64_t half);

private:
  VectorType lanesOf(Type element) const {
    return VectorType::get(e.shape.lanes, element);
  }
  Value laneIndex(int64_t half) {
    return e.add(firstLane, e.integer(half * e.shape.lanes));
  }
  Value positionOf(Value row) {
    return e.load(e.getI32Type(), e.at(tile.keyPositions, row, e.getI32Type()));
  }
  unsigned firstPair() const { return e.perQuery + e.perKey + e.perHead; }
  /// Elements of pairs that are no wider than a word are laid out.
  bool isPacked(const Term &term) const {
    return storageOf(term.element).getIntOrFloatBitWidth() <=
           e.laneType.getWidth();
  }
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

  Emitter &e;
  const Tile &tile;
  ScalarEmitter scalars;
  Value firstLane, key, keyNumber, position;
};

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONSCORE_H
