/// What one operation makes of the types of its operands along axes.
#ifndef SP_LIB_IR_AXISTRANSFER_H
#define SP_LIB_IR_AXISTRANSFER_H

#include "sp/IR/AxisTypes.h"
#include "sp/IR/Linearity.h"
#include "sp/IR/ShardingRules.h"

namespace mlir::sp {

/// Whether what is equal counts once a rank when it is reduced.
inline bool countsEachRank(Reduction kind) {
  return kind == Reduction::Sum || kind == Reduction::Mul;
}

/// What a type is along the first factor of a set.
std::string describe(const AxisType &type, AxisSet axis,
                     const MeshFactors &mesh);

/// Rows that are dealt in runs, of which nothing inside is dealt, are dealt one
/// by one.
void joinRuns(SmallVectorImpl<DealtRows> &all);

/// The type of what is reshaped; `oneRow` as the attribute says, or null.
AxisType reshaped(const AxisType &from, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> newShape, const MeshFactors &mesh,
                  DictionaryAttr oneRow);

class AxisTransfer {
public:
  using TypeOf = function_ref<const AxisType &(Value)>;

  /// With `reports` operations that cannot be right are errors; without, their
  /// results are varying.
  AxisTransfer(const MeshFactors &mesh, TypeOf known, bool reports)
      : mesh(mesh), known(known), reports(reports) {}

  /// Types of the results of an operation that has no control flow.
  SmallVector<AxisType> apply(Operation *op);
  bool isFaulty() const { return faulty; }

private:
  using Types = SmallVector<AxisType>;

  Types passOn(Operation *op);
  Types ofAllReduce(AllReduceOp op);
  Types ofReduceScatter(ReduceScatterOp op);
  Types ofAllGather(AllGatherOp op);
  AxisType ofGathered(Operation *op, unsigned number, unsigned dim,
                      LayoutAttr from, LayoutAttr to);
  AxisType ofAllToAll(AllToAllOp op);
  AxisType ofRank(Operation *op, AxisSet axes);
  Types ofAttend(AttendOp op);
  Types ofAttendBackward(AttendBackwardOp op);

  /// By which dimensions go together. Operands that are gone on with are left
  /// to `goOn`.
  Types byFactors(Operation *op, ArrayRef<Factor> factors);
  /// What becomes of dealt rows in one result.
  struct Placed {
    SmallVector<DealtRows, 2> rows;
    AxisSet reduced = 0, lost = 0;
    Reduction kind = Reduction::Sum;
  };
  Placed place(Operation *op, ArrayRef<Factor> factors, unsigned result);
  /// Whether all rows that a factor goes through are alike.
  bool isUniform(Operation *op, const Factor &factor);
  AxisSet variesBy(Operation *op);
  /// Factors along which an operation keeps what its operands are parts of.
  AxisSet keptParts(Operation *op, AxisSet parts);
  bool keepsParts(Operation *op, const std::optional<Linearity> &linearity,
                  AxisSet axis);
  void checkStarts(Operation *op, ArrayRef<Factor> factors, AxisSet reduced);
  void goOn(Operation *op, Types &results);

  /// Checks an operand that is about to be reduced, or made whole of its rows.
  void checkReduced(Operation *op, unsigned operand, AxisSet axes,
                    Reduction kind);
  void checkGathered(Operation *op, unsigned number, unsigned dim,
                     LayoutAttr layout);

  /// An error, unless types are still being found; `operand` is shown.
  void fail(Operation *op, Value operand, const Twine &message);
  const AxisType &operandType(Operation *op, unsigned number) {
    return known(op->getOperand(number));
  }

  const MeshFactors &mesh;
  TypeOf known;
  bool reports, faulty = false;
};

} // namespace mlir::sp

#endif // SP_LIB_IR_AXISTRANSFER_H
