/// Which operations become one kernel.
///
/// Nodes are token-local operations; chains of free operations (constants,
/// iota, broadcasts, reshapes, what follows from these) belong to no node: they
/// are repeated in every kernel that reads them. A kernel works row by row (see
/// lib/Codegen/Fusion/KernelEmitter.h): two nodes may share one if the values
/// that are stored on the way have a common number of rows and each row is read
/// by the same row only. `R` counts leading elements in row-major order, so
/// that 1x8x64 and 8x64 have the same eight rows.
#ifndef SP_SCHEDULE_KERNELCLUSTERS_H
#define SP_SCHEDULE_KERNELCLUSTERS_H

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <vector>

namespace mlir::sp {

using RowCounts = std::set<int64_t>;

/// Products of leading sizes: every number of rows that `shape` divides into.
RowCounts rowCounts(llvm::ArrayRef<int64_t> shape);

RowCounts commonRows(const RowCounts &x, const RowCounts &y);

/// The row counts R for which row r of `user`'s results reads only row r of
/// operand `number`; none at all if the operand must come from memory.
RowCounts preservedRows(Operation *user, unsigned number);

/// Whether `op` can be part of a kernel.
bool isLocal(Operation *op);
/// Whether a kernel stores the result of `op` rather than computing it again.
bool isStoredInKernel(Operation *op);

/// The clusters of one block.
class KernelClusters {
public:
  explicit KernelClusters(Block &block);

  /// Ops of each cluster in block order; clusters by their last op.
  std::vector<llvm::SmallVector<Operation *>> clusters() const;
  /// Whether `op` is repeated in each kernel that reads it.
  bool isFree(Operation *op) const { return freeOps.contains(op); }
  /// Whether something other than a kernel reads `value` as it is.
  bool isNeededOutside(Value value) const {
    return neededOutside.contains(value);
  }

private:
  struct Edge {
    unsigned producer;
    RowCounts rows;
  };
  void findFreeOps();
  void passFreeAround(stablehlo::OptimizationBarrierOp barrier);
  void findNeededOutside();
  void findNodes();
  void addEdges(unsigned node, Value value, const RowCounts &rows);
  bool tryMerge(unsigned producer, unsigned consumer);
  bool reachesAround(unsigned from, unsigned to) const;
  bool fitsOneKernel(llvm::ArrayRef<unsigned> members) const;

  Block &block;
  std::vector<Operation *> nodes; ///< kernel nodes and barriers, in block order
  std::vector<bool> isBarrier;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  llvm::DenseSet<Operation *> freeOps;
  llvm::DenseSet<Value> neededOutside;
  std::vector<llvm::SmallVector<Edge>> edgesInto; ///< by consumer
  std::vector<llvm::SmallVector<unsigned>> successors;
  std::vector<unsigned> group;
  std::vector<llvm::SmallVector<unsigned>> members; ///< by group
};

} // namespace mlir::sp

#endif // SP_SCHEDULE_KERNELCLUSTERS_H
