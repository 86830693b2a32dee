/// Values of index expressions on one rank.
#ifndef SP_IR_RANKINDICES_H
#define SP_IR_RANKINDICES_H

#include "sp/IR/SP.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// What a rank of the mesh makes of coordinates, constants and affine maps of
/// them. Whoever walks a loop says where its counter stands. Of layouts by
/// batches all owners are in one group, or each owner is in one of `groupSize`
/// that begins with owner 0.
class RankIndices {
public:
  RankIndices(MeshOp mesh, int64_t rank, int64_t groupSize = 0)
      : mesh(mesh), rank(rank), groupSize(groupSize) {}

  /// Along an axis or a factor of one, which the mesh must have.
  int64_t coordinate(AxisAttr axis);
  /// The number of this rank as an owner of the layout's rows, of the first
  /// turn where these are dealt by turn.
  int64_t owner(LayoutAttr layout) {
    return layout.getRanks() == 1 ? 0 : coordinate(layout.getAxis());
  }
  /// With how many owners of the layout this one hands blocks round.
  int64_t groupOf(LayoutAttr layout) const {
    return layout.isOfBatch() && groupSize ? groupSize : layout.getOwners();
  }
  void setCounter(Value counter, int64_t value) { counters[counter] = value; }
  int64_t evaluate(Value index);

private:
  MeshOp mesh;
  int64_t rank, groupSize;
  DenseMap<Value, int64_t> counters;
};

/// The sizes of groups, up to `most` and the largest one, for which a program
/// is looked at; 0 where it has no layouts by batches.
SmallVector<int64_t> groupSizesToProve(ModuleOp module, int64_t most);

} // namespace mlir::sp

#endif // SP_IR_RANKINDICES_H
