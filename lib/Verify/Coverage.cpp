#include "Coverage.h"

#include "sprt/algebra/Bands.h"

using namespace mlir;
using namespace mlir::sp;

/// What both have of queries and keys.
template <typename OpT>
static std::pair<Side, Side> sidesOf(OpT op, ArrayRef<Value> besideQuery) {
  Side queries = {"queries",           "cotangents, sums or terms",
                  {op.getQuery()},     op.getTermsOf(TermKind::PerQuery),
                  op.getQuerySource(), op.getQueries()},
       keys = {"keys",
               "values or terms",
               {op.getKey(), op.getValue()},
               op.getTermsOf(TermKind::PerKey),
               op.getSource(),
               op.getKeys()};
  llvm::append_range(queries.operands, besideQuery);
  return {queries, keys};
}

Part::Part(AttendOp op)
    : op(op), name("state"), bands(op.getBands()),
      documents(op.getDocumentsAttr()), form(op.getForm()) {
  std::tie(staying, travelling) = sidesOf(op, {});
}

Part::Part(AttendBackwardOp op)
    : op(op), name("gradient"),
      queriesTravel(op.getQuerySource() && op.getQueries().getTurns() == 1),
      bands(op.getBands()), documents(op.getDocumentsAttr()) {
  std::tie(staying, travelling) =
      sidesOf(op, {op.getDOutput(), op.getLse(), op.getDelta()});
  if (queriesTravel)
    std::swap(staying, travelling);
}

ReadersAttr Part::readers() const {
  DocumentsAttr seenDocuments =
      documents && queriesTravel ? documents.getTransposed() : documents;
  return ReadersAttr::get(staying.rows.getContext(),
                          staying.rows.getOfAllTurns(), seen(), seenDocuments);
}

LogicalResult Part::checkGroup() const {
  bool isShared =
      documents && documents.getQueries() == documents.getKeys() &&
      staying.rows.isOfBatch() &&
      staying.rows.getOfAllTurns().getWhole() == travelling.rows.getWhole();
  if (!travelling.rows.isOfBatch() || isShared)
    return success();
  return op->emitOpError()
         << "attends to " << travelling.name
         << " of a group but expected both sides to be dealt by the same "
            "documents, within which alone pairs count";
}

LogicalResult Coverage::add(const Part &part, ArrayRef<Value> cameFrom,
                            const Moves &moves) {
  if (part.staying.rows != last.staying.rows ||
      part.travelling.rows != last.travelling.rows ||
      part.bands != last.bands || part.documents != last.documents ||
      part.form != last.form ||
      part.staying.operands != last.staying.operands ||
      part.staying.turn != last.staying.turn ||
      part.queriesTravel != last.queriesTravel ||
      cameFrom != ArrayRef<Value>(origins)) {
    InFlightDiagnostic error = part.op->emitOpError()
                               << "continues the " << part.name
                               << " of another attention";
    error.attachNote(last.op->getLoc()) << "which is this one";
    return error;
  }
  if (!metByFirst.insert(moves.source(0)).second)
    return part.op->emitOpError()
           << "attends a second time to " << part.travelling.name
           << " that its " << part.name
           << " has met: at owner 0 those of owner " << moves.source(0);
  met.push_back(moves);
  last = part;
  return success();
}

LogicalResult Coverage::finish(MutableArrayRef<RankIndices> ranks) const {
  const Side &staying = last.staying, &travelling = last.travelling;
  sprt::algebra::Layout stayingRows = toAlgebra(staying.rows),
                        travellingRows = toAlgebra(travelling.rows);
  int64_t group = ranks.front().groupOf(travelling.rows);
  // Queries that all ranks have meet one block on each: states are merged.
  if (stayingRows.ranks() == 1 && group > 1) {
    if (met.size() == 1)
      return success();
    return last.op->emitOpError()
           << "is the last of its " << last.name << ", in which "
           << staying.name << " that every rank has have met the "
           << travelling.name << " of " << met.size()
           << " owners, which would count " << met.size()
           << " times in what ranks add up";
  }
  // Different moves are different owners.
  if (int64_t(met.size()) == group)
    return success();
  sprt::algebra::Bands bands = toAlgebra(last.seen());
  for (RankIndices &rank : ranks) {
    int64_t here = rank.owner(staying.rows) +
                   staying.turn * staying.rows.getRanks(),
            own = rank.owner(travelling.rows);
    if (own >= group)
      continue;
    SmallVector<bool> isMet(travellingRows.ranks(), false);
    for (const Moves &moves : met)
      isMet[moves.source(own)] = true;
    for (int64_t owner = 0; owner < group; ++owner) {
      if (isMet[owner])
        continue;
      sprt::algebra::Area pairs = sprt::algebra::area(
          bands.restrict(stayingRows, here, travellingRows, owner));
      // Any positions may be those of a batch.
      bool isOfBatch = travelling.rows.isOfBatch();
      if (pairs == 0 && !isOfBatch)
        continue;
      InFlightDiagnostic error = last.op->emitOpError()
                                 << "is the last of its " << last.name
                                 << ", but the " << staying.name << " of owner "
                                 << here << " have not met the "
                                 << travelling.name << " of owner " << owner;
      if (isOfBatch)
        return error << ", who is one of " << group << " in their group";
      return error << ", with which they share " << int64_t(pairs)
                   << " visible pairs";
    }
  }
  return success();
}
