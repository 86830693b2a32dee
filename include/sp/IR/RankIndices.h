/// Values of index expressions on one rank.
#ifndef SP_IR_RANKINDICES_H
#define SP_IR_RANKINDICES_H

#include "sp/IR/SP.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// What a rank of the mesh makes of coordinates, constants and affine maps of
/// them. Whoever walks a loop says where its counter stands.
class RankIndices {
public:
  RankIndices(MeshOp mesh, int64_t rank) : mesh(mesh), rank(rank) {}

  /// Along an axis or a factor of one, which the mesh must have.
  int64_t coordinate(AxisAttr axis);
  /// The number of this rank as an owner of the layout's rows, of the first
  /// turn where these are dealt by turn.
  int64_t owner(LayoutAttr layout) {
    return layout.getRanks() == 1 ? 0 : coordinate(layout.getAxis());
  }
  void setCounter(Value counter, int64_t value) { counters[counter] = value; }
  int64_t evaluate(Value index);

private:
  MeshOp mesh;
  int64_t rank;
  DenseMap<Value, int64_t> counters;
};

} // namespace mlir::sp

#endif // SP_IR_RANKINDICES_H
