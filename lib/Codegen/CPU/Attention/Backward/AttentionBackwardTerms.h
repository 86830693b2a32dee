/// Gradients of terms in the gradient kernels; see AttentionBackwardTerms.cpp.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARDTERMS_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARDTERMS_H

#include "CPU/Attention/Backward/AttentionBackward.h"

namespace mlir::sp::attention {

/// What the pairs of a panel of queries and a block of keys give for gradients
/// of terms.
class TermSums {
public:
  TermSums(BackwardEmitter &e, const BackwardTile &tile, const QueryHead &head,
           const QueryBlock &block, const KeyBlock &keys, Value panel);

  /// Whether gradients are of pairs, and the tiles of `lanes` keys come
  /// between `begin` and `endKeys`.
  bool areOfPairs() const;
  void begin(Value firstRow) { first = firstRow; }
  void endKeys(Value endRow);
  /// What to ask for in `iterations` steps at the tile of keys at `row`, to be
  /// near when the next keys' gradients are added.
  SmallVector<Ahead> lookAhead(Value row, int64_t iterations);
  /// The sums that the loop over keys carries from tile to tile, at first.
  SmallVector<Value> zeros();
  /// Takes w ∘ dP − delta of the tile of keys at `row`.
  void addTile(Value row, ValueRange tile, MutableArrayRef<Value> sums);
  void end(ValueRange sums);

private:
  SmallVector<Value> factorsOf(unsigned number, Value row);
  Value noneOf(unsigned number);
  void addTile(unsigned number, Value row, ValueRange tile,
               MutableArrayRef<Value> sums);
  void addPairs(unsigned number, Value count);
  unsigned firstSum(unsigned number) const;

  BackwardEmitter &e;
  const BackwardTile &tile;
  const QueryHead &head;
  const KeyBlock &keys;
  Value panel;
  Value firstQuery, queryCount; ///< the panel's valid ones
  Value first;
};

/// Begins sums over queries for the keys of the block that a slice shows.
void clearKeySums(BackwardEmitter &e, const BackwardTile &tile,
                  const KeyBlock &keys, const Slice &slice);
/// Adds them to memory.
void addKeySums(BackwardEmitter &e, const BackwardTile &tile,
                const QueryHead &head, const KeyBlock &keys,
                const Slice &slice);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARDTERMS_H
