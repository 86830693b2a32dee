/// What ranks do that sharding does not make less: tensors that are gathered,
/// products that several ranks make alike.
#ifndef SP_LIB_PARTITION_LOSSES_H
#define SP_LIB_PARTITION_LOSSES_H

#include "Sharding/Resharding.h"

#include <string>

namespace mlir::sp {

struct Assignment;

/// Of one program, told when all of it is known: as `missed` where one source
/// line makes up a hundredth of what attention sends or of what a rank
/// computes, as `analysis` below that.
class Losses {
public:
  explicit Losses(MeshOp mesh) : mesh(mesh) {}

  /// What a loop holds from now on runs `trips` times as often as what is
  /// around it.
  void enter(Operation *loop, int64_t trips) { loops[loop] = trips; }

  /// Dimension `index` of a tensor is gathered for `user` in `block`.
  /// `isWanted`: of a parameter, which lies dealt to save memory.
  void gather(Operation *user, ArrayRef<DimAttr> dims, unsigned index,
              int64_t bytes, Block *block, bool isWanted);
  /// What is gathered for an operation sends less than what else it could do.
  void choose(Operation *op) { chosen.insert(op); }
  /// Each rank takes its part of a dimension of what all have whole: `global`,
  /// or what `user` makes where that is null.
  void take(Operation *user, Value global, unsigned index, DimAttr dim,
            int64_t bytes);
  /// `op`, a product, is made as `local` by factors dealt so.
  void multiply(Operation *op, Operation *local, const Assignment &assignment,
                Block *block);
  /// An attention, or its gradients, in global shapes.
  void attend(Operation *attention, Block *block);

  /// Remarks of all of it.
  void report(func::FuncOp func);

private:
  struct Gather {
    Operation *user;
    unsigned index;
    std::string axes;
    int64_t bytes, trips;
    bool isWanted;
  };
  struct Product {
    Operation *op;
    std::string axes;
    int64_t ranks, trips;
    double flops; ///< of one trip
  };

  struct Whole {
    Operation *op;
    unsigned index;
    std::string axes;
    int64_t bytes;
  };

  /// How often a block runs, loops of unknown length once.
  int64_t tripsOf(Block *block) const;
  /// Whether activations between tensor ranks are gathered, to be multiplied.
  bool isOfTensorAxis(ArrayRef<AxisAttr> axes);
  /// What a gather or a value takes at least that is a loss.
  double leastBytes() const;
  /// Of loops that every rank runs whole, with what happens for each.
  void reportLoops(func::FuncOp func);
  void reportGathers();
  void reportWhole();
  void reportProducts();

  MeshOp mesh;
  double attentionBytes = 0; ///< of keys and values
  double flops = 0;          ///< of a rank
  bool hasAttention = false;
  bool isBatchSmall = false; ///< smaller than its axis
  DenseMap<Operation *, int64_t> loops;
  llvm::DenseSet<Operation *> chosen;
  SmallVector<Gather> gathers;
  SmallVector<Product> products;
  SmallVector<Whole> wholes;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOSSES_H
