/// Emission of one fused kernel: a function of StableHLO on local tensors
/// becomes loops over rows.
///
/// Every value that is not stored anywhere is computed where it is needed, by
/// elementAt(value, indices): broadcasts, transposes, slices, gathers and the
/// like only change the indices. Values that are stored (results, reductions,
/// and what would otherwise be computed again and again) form *stages*, in
/// program order. Rows are the leading part of the row-major order that all
/// stages share:
///
///     for row in [first, last)            one tile is some rows
///       stage 1: sum over the row         -> a register
///       stage 2: exp over the row         -> scratch, one row of it
///       stage 3: the normalised row       -> result
///
/// so a row goes through the cache once, and rows may be split over threads in
/// any way. The emitter tries the finest rows first; a stage that reads another
/// row's values makes it try coarser ones, down to a single row.
///
/// Each attempt is repeated while loops ask to be cut or split (ElementIndex.h)
/// and values ask to be stored; what was emitted before is erased.
///
/// Each class knows the one before it: KernelState, LoopNest, ElementSource,
/// ReductionStages, OrderStages, and KernelEmitter, which searches for rows.
#ifndef SP_LIB_CODEGEN_KERNELEMITTER_H
#define SP_LIB_CODEGEN_KERNELEMITTER_H

#include "Fusion/KernelEmission.h"
#include "Fusion/OrderStages.h"

namespace mlir::sp {

class KernelEmitter : private OrderStages {
public:
  KernelEmitter(func::FuncOp source, ModuleOp target)
      : OrderStages(source, target) {}
  FailureOr<KernelShape> run();
  FailureOr<GridShape> runGrid();

private:
  // KernelEmitter.cpp: rows and stages.
  LogicalResult checkSupported();
  std::vector<int64_t> rowCandidates();
  Outcome tryRows(ArrayRef<int64_t> candidates);
  LogicalResult refuse();
  Outcome attempt(int64_t rowCount);
  Outcome attemptBlocked(int64_t rowCount);
  void emitRow();
  void emitStage(Operation *op);
  void emitMapStage(Value value);
  void emitChanges(Value value);
  void storeChanged(Operation *op, const Index &inner, ArrayRef<Index> at);
  int64_t rowsPerTile();
  bool refineLoops();

  // KernelFunctions.cpp
  void emitBody();
  KernelShape emitEntry();
  KernelShape emitNothing();

  // KernelGrid.cpp: what is different on a GPU.
  using GridRows = std::pair<RowsOf, std::vector<int64_t>>;
  std::vector<GridRows> gridCandidates();
  int64_t threadsFor(int64_t rowCount);
  Block *createGridEntry();
  GridShape emitGridEntry();
  GridShape emitGridNothing();
  void unrollLoops();
};

/// Elements that an operation reads or makes, whichever is more.
int64_t workOf(Operation *op);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_KERNELEMITTER_H
