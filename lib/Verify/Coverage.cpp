#include "Coverage.h"

#include "sprt/algebra/Bands.h"

using namespace mlir;
using namespace mlir::sp;

LogicalResult Coverage::add(const Part &part, const RowBlock &keyBlock,
                            const RowBlock &valueBlock) {
  if (part.queries != last.queries || part.keys != last.keys ||
      part.bands != last.bands || part.ofQueries != last.ofQueries ||
      keyBlock.origin != keys || valueBlock.origin != values) {
    InFlightDiagnostic error = part.op->emitOpError()
                               << "continues the " << part.name
                               << " of another attention";
    error.attachNote(last.op->getLoc()) << "which is this one";
    return error;
  }
  if (!metByFirst.insert(keyBlock.moves.source(0)).second)
    return part.op->emitOpError()
           << "attends a second time to keys that its " << part.name
           << " has met: at owner 0 those of owner "
           << keyBlock.moves.source(0);
  met.push_back(keyBlock.moves);
  last = part;
  return success();
}

LogicalResult Coverage::finish(MutableArrayRef<RankIndices> ranks) const {
  sprt::algebra::Layout queryRows = toAlgebra(last.queries),
                        keyRows = toAlgebra(last.keys);
  // Different moves are different owners.
  if (int64_t(met.size()) == keyRows.ranks())
    return success();
  sprt::algebra::Bands bands = toAlgebra(last.bands);
  for (RankIndices &rank : ranks) {
    int64_t queries = rank.owner(last.queries), own = rank.owner(last.keys);
    SmallVector<bool> isMet(keyRows.ranks(), false);
    for (const Moves &moves : met)
      isMet[moves.source(own)] = true;
    for (int64_t owner = 0; owner < keyRows.ranks(); ++owner) {
      if (isMet[owner])
        continue;
      sprt::algebra::Area pairs = sprt::algebra::area(
          bands.restrict(queryRows, queries, keyRows, owner));
      if (pairs != 0)
        return last.op->emitOpError()
               << "is the last of its " << last.name
               << ", but the queries of owner " << queries
               << " have not met the keys of owner " << owner
               << ", with which they share " << int64_t(pairs)
               << " visible pairs";
    }
  }
  return success();
}
