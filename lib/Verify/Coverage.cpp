#include "Coverage.h"

#include "sprt/algebra/Bands.h"

using namespace mlir;
using namespace mlir::sp;

LogicalResult Coverage::add(AttendOp op, const RowBlock &keyBlock,
                            const RowBlock &valueBlock) {
  if (op.getQueries() != last.getQueries() || op.getKeys() != last.getKeys() ||
      op.getBands() != last.getBands() || op.getQuery() != last.getQuery() ||
      keyBlock.origin != keys || valueBlock.origin != values) {
    InFlightDiagnostic error = op.emitOpError()
                               << "continues the state of another attention";
    error.attachNote(last.getLoc()) << "which is this one";
    return error;
  }
  if (!metByFirst.insert(keyBlock.moves.source(0)).second)
    return op.emitOpError() << "attends a second time to keys that its state "
                               "has met: at owner 0 those of owner "
                            << keyBlock.moves.source(0);
  met.push_back(keyBlock.moves);
  last = op;
  return success();
}

LogicalResult Coverage::finish(MutableArrayRef<RankIndices> ranks) const {
  AttendOp op = last;
  sprt::algebra::Layout queryRows = toAlgebra(op.getQueries()),
                        keyRows = toAlgebra(op.getKeys());
  // Different moves are different owners.
  if (int64_t(met.size()) == keyRows.ranks())
    return success();
  sprt::algebra::Bands bands = toAlgebra(op.getBands());
  for (RankIndices &rank : ranks) {
    int64_t queries = rank.owner(op.getQueries()),
            own = rank.owner(op.getKeys());
    SmallVector<bool> isMet(keyRows.ranks(), false);
    for (const Moves &moves : met)
      isMet[moves.source(own)] = true;
    for (int64_t owner = 0; owner < keyRows.ranks(); ++owner) {
      if (isMet[owner])
        continue;
      sprt::algebra::Area pairs = sprt::algebra::area(
          bands.restrict(queryRows, queries, keyRows, owner));
      if (pairs != 0)
        return op.emitOpError()
               << "is the last of its state, but the queries of owner "
               << queries << " have not met the keys of owner " << owner
               << ", with which they share " << int64_t(pairs)
               << " visible pairs";
    }
  }
  return success();
}
