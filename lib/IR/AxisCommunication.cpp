//===- AxisCommunication.cpp - Types along axes of what ranks exchange ----===//
//
//   all_reduce       partial to equal
//   reduce_scatter   partial to dealt
//   all_gather       dealt to equal
//   redeal           dealt to dealt, or to equal
//   all_to_all       rows dealt to heads dealt, and back
//   shift            as it is: each rank has the rows of another
//   attend           dealt as the queries, or varying where only keys are
//                    dealt; gradients of keys as the keys, or partial where
//                    only queries are dealt
//
//===----------------------------------------------------------------------===//

#include "AxisTransfer.h"

#include "sp/IR/CarriedValues.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// What changes along an axis
//===----------------------------------------------------------------------===//

/// Makes a value equal along an axis, where that has all ranks of the factors.
static void settle(AxisType &type, AxisAttr axis, const MeshFactors &mesh) {
  AxisSet touched = mesh.of(axis), cut = touched & ~mesh.within(axis);
  llvm::erase_if(type.rows, [&](const DealtRows &rows) {
    AxisSet axes = mesh.of(rows.layout);
    if (!(axes & touched))
      return false;
    // What else the rows were dealt along differs.
    cut |= axes & ~touched;
    return true;
  });
  type.dealt &= ~(touched | cut);
  type.partial &= ~touched;
  type.counted &= ~touched;
  type.varying = (type.varying & ~touched) | cut;
}

/// Rows of other axes along a dimension that has become longer or shorter are
/// parts of them, or all of them again; but for those inside runs of so many,
/// of which there are more now. One run of all of them is one of as many.
static void resizeRows(AxisType &type, unsigned dim, int64_t before,
                       int64_t after, int64_t run = 1) {
  for (DealtRows &rows : type.rows) {
    if (rows.dim == dim && rows.inner == 1 && rows.size == before &&
        (run == 1 || rows.size > run))
      rows.size = after;
    if (rows.dim == dim && rows.inner == before && rows.size == 1 && run == 1 &&
        after > before)
      rows.inner = after;
  }
  joinRuns(type.rows);
}

/// Deals `size` rows along a dimension.
static void deal(AxisType &type, LayoutAttr layout, unsigned dim, int64_t size,
                 const MeshFactors &mesh) {
  AxisSet axes = mesh.of(layout);
  type.isZero = false;
  type.uniform &= ~(uint64_t(1) << dim);
  if (!axes)
    return;
  type.varying &= ~axes;
  type.dealt |= axes;
  type.rows.push_back({layout, dim, 1, size});
}

void AxisTransfer::checkReduced(Operation *op, unsigned number, AxisSet axes,
                                Reduction kind) {
  const AxisType &type = operandType(op, number);
  if (type.isZero)
    return;
  for (AxisSet left = axes; left; left &= left - 1) {
    AxisSet axis = left & -left;
    bool isPart = (type.partial & axis) && type.kind == kind;
    bool isDealt = (type.dealt | type.partial) & axis;
    bool isEqual = !((type.unequal() | type.counted) & axis);
    if (isPart || !(isDealt || (isEqual && countsEachRank(kind))))
      continue;
    std::string way = isEqual ? ", so that each of its " +
                                    std::to_string(mesh.ranksOf(axis)) +
                                    " ranks would count the whole; reduce once"
                      : (type.partial & axis)
                          ? "; combine parts as they were made"
                          : "; gather rows, or reduce what is made of them";
    return fail(op, op->getOperand(number),
                "expected operand " + Twine(number) + " to be partial (" +
                    stringifyReduction(kind) + ") along axis \"" +
                    mesh.axisOf(axis).getText() + "\" but it is " +
                    describe(type, axis, mesh) + way);
  }
}

/// Rows that are dealt in runs, whatever deals what is inside, one by one; the
/// same where no layout is that.
static DealtRows inOnes(const DealtRows &rows) {
  LayoutAttr layout =
      rows.inner > 1 ? ofRuns(rows.layout, rows.inner) : LayoutAttr();
  return layout ? DealtRows{layout, rows.dim, 1, rows.size * rows.inner} : rows;
}

void AxisTransfer::checkGathered(Operation *op, unsigned number, unsigned dim,
                                 LayoutAttr layout) {
  const AxisType &type = operandType(op, number);
  AxisSet axes = mesh.of(layout), open = type.counted | type.varying;
  if (type.isZero || !axes || (axes & open) || (type.uniform >> dim & 1))
    return;
  auto rows = llvm::find_if(type.rows, [&](const DealtRows &rows) {
    return (mesh.of(rows.layout) & axes) != 0;
  });
  DealtRows expected{layout, dim, 1,
                     typeOf(op->getOperand(number)).getDimSize(dim)};
  if (rows != type.rows.end() &&
      (rows->agreesWith(expected) || inOnes(*rows).agreesWith(expected)))
    return;
  AxisType wanted;
  wanted.dealt = axes;
  wanted.rows.push_back(expected);
  AxisSet parts = type.partial & axes;
  AxisSet shown = parts ? parts : axes;
  fail(op, op->getOperand(number),
       "expected operand " + Twine(number) + " to be " +
           describe(wanted, axes, mesh) + " but along axis \"" +
           mesh.axisOf(shown).getText() + "\" it is " +
           describe(type, shown, mesh) +
           (parts ? "; reduce it before"
            : type.rows.empty() || rows == type.rows.end()
                ? ": every rank has all already"
                : "; say how its rows are dealt"));
}

SmallVector<AxisType> AxisTransfer::ofAllReduce(AllReduceOp op) {
  Types types = passOn(op);
  for (auto [number, type] : llvm::enumerate(types)) {
    checkReduced(op, number, mesh.of(op.getAxes()), op.getKind());
    for (AxisAttr axis : op.getAxes().getAxes())
      settle(type, axis, mesh);
  }
  return types;
}

SmallVector<AxisType> AxisTransfer::ofReduceScatter(ReduceScatterOp op) {
  Types types = passOn(op);
  for (auto [number, type] : llvm::enumerate(types)) {
    LayoutAttr layout = op.getLayout(number);
    int64_t dim = op.getDims()[number];
    checkReduced(op, number, mesh.of(layout), op.getKind());
    settle(type, layout.getAxis(), mesh);
    int64_t size = typeOf(op->getResult(number)).getDimSize(dim);
    resizeRows(type, dim, typeOf(op->getOperand(number)).getDimSize(dim), size);
    deal(type, layout, dim, size, mesh);
  }
  return types;
}

SmallVector<AxisType> AxisTransfer::ofAllGather(AllGatherOp op) {
  Types types;
  for (unsigned number = 0; number < op->getNumResults(); ++number)
    types.push_back(
        ofGathered(op, number, op.getDims()[number], op.getLayout(number), {}));
  return types;
}

/// Rows of all ranks, or others of `to`, which may be null.
AxisType AxisTransfer::ofGathered(Operation *op, unsigned number, unsigned dim,
                                  LayoutAttr from, LayoutAttr to) {
  AxisType type = operandType(op, number);
  checkGathered(op, number, dim, from);
  int64_t run = 1;
  for (const DealtRows &rows : type.rows)
    if (rows.dim == dim && (mesh.of(rows.layout) & mesh.of(from)))
      run = rows.inner;
  settle(type, from.getAxis(), mesh);
  resizeRows(type, dim, typeOf(op->getOperand(number)).getDimSize(dim),
             typeOf(op->getResult(number)).getDimSize(dim), run);
  type.isZero = false;
  if (to)
    deal(type, to, dim, typeOf(op->getResult(0)).getDimSize(dim), mesh);
  return type;
}

AxisType AxisTransfer::ofAllToAll(AllToAllOp op) {
  LayoutAttr rows = op.getRows(), heads = op.getHeads();
  AxisType type = operandType(op, 0);
  RankedTensorType result = typeOf(op->getResult(0));
  AxisSet parts = type.partial & mesh.of(rows);
  if (parts)
    fail(op, op->getOperand(0),
         "expected operand 0 to be dealt along axis \"" +
             mesh.axisOf(parts).getText() + "\" but it is " +
             describe(type, parts, mesh) + "; reduce it before");
  settle(type, rows.getAxis(), mesh);
  if (op.getToRows()) {
    deal(type, rows, 1, result.getDimSize(1), mesh);
    return type;
  }
  if (std::optional<LayoutAttr> onto = op.getOnto())
    deal(type, *onto, 1, result.getDimSize(1), mesh);
  deal(type, heads, 2, result.getDimSize(2), mesh);
  return type;
}

AxisType AxisTransfer::ofRank(Operation *op, AxisSet axes) {
  AxisType type;
  type.varying = axes;
  for (Value operand : op->getOperands())
    type.varying |= known(operand).unequal();
  return type;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Dimension `dim` of an operand and of results, which goes with itself.
static Factor along(unsigned dim, OpOperand &operand, ValueRange results) {
  Factor factor;
  factor.operands.push_back({operand.getOperandNumber(), dim});
  for (Value result : results)
    factor.results.push_back({cast<OpResult>(result).getResultNumber(), dim});
  return factor;
}

/// Parts that an operation adds its own to, or goes on with.
void AxisTransfer::goOn(Operation *op, Types &results) {
  for (const Continued &continued : continuedBy(op)) {
    const AxisType &before = known(continued.operand->get());
    AxisType &after = results[continued.result.getResultNumber()];
    AxisSet equal = after.partial & ~before.unequal() & ~before.counted;
    if (equal && !before.isZero)
      fail(op, continued.operand->get(),
           "expected operand " + Twine(continued.operand->getOperandNumber()) +
               " to be partial along axis \"" + mesh.axisOf(equal).getText() +
               "\" but it is equal: it would count " +
               Twine(mesh.ranksOf(equal)) +
               " times; add it after the reduction");
    after = join(after, before, mesh);
  }
}

/// Factors along which ranks have kv heads, and query heads, of their own.
static std::pair<AxisSet, AxisSet> ofHeads(std::optional<HeadPartAttr> part,
                                           const MeshFactors &mesh) {
  if (!part)
    return {0, 0};
  AxisSet kv = mesh.of(part->getKv());
  return {kv, kv | mesh.of(part->getEach())};
}

SmallVector<AxisType> AxisTransfer::ofAttend(AttendOp op) {
  SmallVector<Factor> factors;
  for (unsigned dim : {0, 1, 2})
    factors.push_back(along(dim, op.getQueryMutable(), op->getResults()));
  Types types = byFactors(op, factors);
  for (AxisType &type : types)
    type.varying |= ofHeads(op.getHeadPart(), mesh).second & ~type.dealt;
  goOn(op, types);
  return types;
}

SmallVector<AxisType> AxisTransfer::ofAttendBackward(AttendBackwardOp op) {
  SmallVector<Value> ofQueries = {op.getDQuery()},
                     ofKeys = {op.getDKey(), op.getDValue()}, sums;
  for (Value term : op.getDTerms())
    (op.hasRows(term) ? ofQueries : sums).push_back(term);
  SmallVector<Factor> factors;
  for (unsigned dim : {0, 1, 2}) {
    factors.push_back(along(dim, op.getQueryMutable(), ofQueries));
    factors.push_back(along(dim, op.getKeyMutable(), ofKeys));
  }
  for (Value sum : sums)
    factors.front().results.push_back(
        {cast<OpResult>(sum).getResultNumber(), 0});
  Types types = byFactors(op, factors);
  // Along what deals queries alone, each rank has a part of the sum over them.
  AxisSet rows = 0, keys = known(op.getKey()).dealt;
  for (const DealtRows &dealt : known(op.getQuery()).rows)
    if (dealt.dim > 0)
      rows |= mesh.of(dealt.layout);
  auto [kvHeads, heads] = ofHeads(op.getHeadPart(), mesh);
  rows = (rows & ~kvHeads) | (heads & ~kvHeads);
  auto makePartial = [&](Value result, AxisSet axes) {
    AxisType &type = types[cast<OpResult>(result).getResultNumber()];
    type.partial |= axes & ~type.dealt;
    type.varying &= ~type.partial;
  };
  for (Value gradient : ofKeys) {
    AxisType &type = types[cast<OpResult>(gradient).getResultNumber()];
    // Of heads that were exchanged those of a tensor axis are not in order.
    if (heads && op.getHeads()) {
      settle(type, op.getHeadPart()->getKv().getAxis(), mesh);
      type.varying |= (rows | heads) & ~type.dealt;
      continue;
    }
    // Keys that differ in another way may be of each rank's own.
    makePartial(gradient, rows & ~known(op.getKey()).varying);
    type.varying |= kvHeads & ~type.dealt;
  }
  for (Value sum : sums)
    makePartial(sum, rows | keys | heads);
  goOn(op, types);
  return types;
}
