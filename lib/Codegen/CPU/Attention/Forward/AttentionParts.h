/// The parts of an attention kernel, each emitted at the current insertion
/// point.
#ifndef SP_LIB_CODEGEN_ATTENTIONPARTS_H
#define SP_LIB_CODEGEN_ATTENTIONPARTS_H

#include "CPU/Attention/AttentionPieces.h"
#include "CPU/Attention/Forward/AttentionEmitter.h"

namespace mlir::sp::attention {

/// One tile's arguments: the rows it works on and the block of queries.
struct Tile {
  Value scratch;
  Value firstQuery; ///< first query row of the tile
  Value queries;    ///< valid query rows in all
  Value keys;       ///< valid key rows in all
  Value panels;     ///< panels that hold valid rows
  Value scale;      ///< of scores in exponents: |scale| · log₂e, a vector; 1
                    ///< for what a score function makes
  Value signs;      ///< the queries' bits to flip: all signs if scale < 0
  Value isEmpty;    ///< i1: INIT
  Rows q, k, v, o, lse;
  Value nextQ, nextO; ///< first rows of the tile that most often comes next
  // With a score function:
  Value product; ///< |scale|, a vector
  ScoreSite score;
};

/// What comes after a block of keys: the block at `key`, with another tile if
/// the block is the tile's last.
struct Next {
  Value key, isTile;
};

/// Packs the tile's queries, transposed.
void packQueries(Emitter &e, const Tile &tile);
/// Sets the state in scratch memory from o and lse, or empty.
void loadState(Emitter &e, const Tile &tile);
/// Normalises the state and writes it to o and lse.
void storeState(Emitter &e, const Tile &tile);
/// Packs keys and values [first, first + count), zero beyond the valid rows.
/// Returns the largest magnitude of the values, as bits of the compute type.
Value packKeys(Emitter &e, const Tile &tile, Value first, Value count);
/// What a panel asks for at register tile `row` of its block, so that it is
/// near when it is packed: its share of the next block's rows and of the next
/// tile's.
SmallVector<Ahead> lookAhead(Emitter &e, const Tile &tile, Value panel,
                             Value row, const Next &next);

/// The tile's queries, with its areas for bounds.
QueryBlock queryBlockOf(Emitter &e, const Tile &tile);

/// The packed keys [first, first + count) of a slice; `next` comes after them.
struct PackedKeys {
  Value first, count;
  Value largest; ///< of the values, as packKeys returns it
  Next next;
  Value uniform; ///< the slice's
};

/// Lets the state of queries that see keys of the slice differ from the empty
/// one, whatever their scores are.
void noteSight(Emitter &e, const Tile &tile);
/// Attends one panel to a block of keys.
void attendPanel(Emitter &e, const Tile &tile, Value panel,
                 const PackedKeys &block);

/// The panel at work: addresses in scratch memory and its ranges of keys.
struct Panel {
  Value queries, output, scores, weights, keys, values;
  Value rowMax, rowSum, weightSum;
  Sight sight;
};
/// `maxima`, or more of rows whose sums could overflow with the values of keys
/// [from, to) of the block; they were `before`.
SmallVector<Value> liftMaxima(Emitter &e, const Panel &p,
                              const PackedKeys &block, Value from, Value to,
                              ValueRange before, ValueRange maxima);
/// Rescales the output and adds the powers of keys [from, to) times their
/// values.
void addValues(Emitter &e, const Panel &p, const PackedKeys &block, Value from,
               Value to, ValueRange rescale);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONPARTS_H
