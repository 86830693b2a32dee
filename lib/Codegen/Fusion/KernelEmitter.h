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
#ifndef SP_CODEGEN_KERNELEMITTER_H
#define SP_CODEGEN_KERNELEMITTER_H

#include "Fusion/KernelEmission.h"
#include "Fusion/KernelParts.h"
#include "Fusion/TensorShape.h"
#include "sp/IR/Attributes.h"

#include <map>
#include <optional>

namespace mlir::sp {

class KernelEmitter : private KernelParts {
public:
  KernelEmitter(func::FuncOp source, ModuleOp target);
  FailureOr<KernelShape> run();
  FailureOr<GridShape> runGrid();

private:
  enum class Outcome { Done, Again, NotByRows, Unsupported };
  // KernelEmitter.cpp: rows, stages, the function.
  LogicalResult checkSupported();
  std::vector<int64_t> rowCandidates();
  Outcome tryRows(ArrayRef<int64_t> candidates);
  LogicalResult refuse();
  Outcome attempt(int64_t rowCount);
  Outcome attemptBlocked(int64_t rowCount);
  void emitBody();
  KernelShape emitEntry();
  KernelShape emitNothing();
  void emitRow();
  void emitStage(Operation *op);
  void emitMapStage(Value value);
  int64_t rowsPerTile();
  int64_t workOf(Operation *op) const;
  bool refineLoops();
  unsigned addBuffer(Value value, bool isWritten, bool isTemporary);
  Value addTemporary(Type element, int64_t count, bool isShared = false);
  int64_t rowSize(Value value) const;
  void fail(Outcome outcome, Location loc, const Twine &reason);

  // KernelLoops.cpp
  LoopPlan &plan(const void *owner, unsigned kind, int64_t extent);
  void emitLoops(LoopPlan &plan, function_ref<void(Index)> body);
  Carried emitLoops(LoopPlan &plan, ValueRange inits, CarryingBody body);
  Carried emitLoop(Value low, Value high, Value step, int64_t count,
                   ValueRange inits,
                   function_ref<Carried(Value, ValueRange)> body);
  Carried emitPart(LoopPlan &plan, ArrayRef<unsigned> order, Index flat,
                   ValueRange inits, CarryingBody body);
  SmallVector<Value> flatten(ArrayRef<Scalar> scalars);
  Scalars unflatten(ValueRange values, ArrayRef<Type> types);
  Index rowFlat(Value value, const Index &inner);
  void storeElement(Value value, const Index &inner, Scalar scalar);
  void setRowScalar(Value value, Scalar scalar);

  // KernelGrid.cpp: what is different on a GPU.
  using GridRows = std::pair<RowsOf, std::vector<int64_t>>;
  std::vector<GridRows> gridCandidates();
  int64_t threadsFor(int64_t rowCount);
  Block *createGridEntry();
  GridShape emitGridEntry();
  GridShape emitGridNothing();
  Carried emitSpread(const void *owner, unsigned kind, int64_t extent,
                     ValueRange inits, CarryingBody body, bool inOrder = false);
  void emitSpread(const void *owner, unsigned kind, int64_t extent,
                  function_ref<void(Index)> body);
  Scalars combineThreads(const Reduction &reduction, ArrayRef<Scalar> partial);
  void unrollLoops();
  void onFirstThread(function_ref<void()> body);

  // KernelReductions.cpp and KernelWindows.cpp
  void emitReduction(Reduction &reduction);
  void emitRegisterReduction(Reduction &reduction, int64_t inner);
  void emitBufferReduction(Reduction &reduction, int64_t inner);
  void emitReduce(stablehlo::ReduceOp op);
  void emitDot(Operation *op, ArrayRef<int64_t> lhsBatch,
               ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracting,
               ArrayRef<int64_t> rhsContracting);
  void emitReduceWindow(stablehlo::ReduceWindowOp op);
  bool emitCumulative(stablehlo::ReduceWindowOp op);
  void emitConvolution(stablehlo::ConvolutionOp op);

  // KernelOrder.cpp: sort, top_k, scatter.
  void emitSort(stablehlo::SortOp op);
  void emitTopK(chlo::TopKOp op);
  void requireStored(Value value);
  void emitMergeSort(
      ValueRange inputs, int64_t dimension, int64_t rowLines,
      function_ref<Value(ArrayRef<Scalar>)> isLess,
      function_ref<void(Index, Index, const Index &, const Index &)> finish);
  void emitScatter(stablehlo::ScatterOp op);

  // ElementAt.cpp and ElementShapes.cpp
  Scalar elementAt(Value value, ArrayRef<Index> indices);
  Scalar compute(Value value, ArrayRef<Index> indices);
  Scalar computeShape(Operation *op, ArrayRef<Index> indices);
  bool isElsewhere(Value value, ArrayRef<Index> indices);
  Scalar loadElement(const Buffer &buffer, ArrayRef<Index> indices);
  void noteCost(Value value, ArrayRef<Index> indices);
  Scalars evaluate(Region &region, ArrayRef<Scalar> arguments);
  Scalar concatenateAt(stablehlo::ConcatenateOp op, ArrayRef<Index> indices);
  Scalar padAt(stablehlo::PadOp op, ArrayRef<Index> indices);
  Scalar gatherAt(stablehlo::GatherOp op, ArrayRef<Index> indices);
  Scalar sliceAt(stablehlo::DynamicSliceOp op, ArrayRef<Index> indices);
  Scalar updateAt(stablehlo::DynamicUpdateSliceOp op, ArrayRef<Index> indices);
  Scalar constantAt(stablehlo::ConstantOp op, ArrayRef<Index> indices);
  Scalar bitcastAt(stablehlo::BitcastConvertOp op, ArrayRef<Index> indices);
  Guarded guard(const Index &index, int64_t size, int64_t step = 1);
  Value both(Value x, Value y);
  /// An integer element as an index, clamped to [low, high].
  Index dynamicIndex(Value tensor, ArrayRef<Index> indices, int64_t low,
                     int64_t high);
  /// The same, not clamped: for scatter, which skips what lies outside.
  Value rawIndex(Value tensor, ArrayRef<Index> indices);
  Scalar dummy(Value value);

  func::FuncOp source;
  ModuleOp target;
  OpBuilder b;
  Location loc;
  ScalarEmitter s;

  // Kept over attempts.
  llvm::DenseSet<Value> stored;
  std::map<std::pair<const void *, unsigned>, LoopPlan> plans;
  int64_t rowCount = 1;
  RowsOf rowsOf = RowsOf::Tile;
  int64_t threads = 1;                              ///< of a block
  llvm::DenseMap<Operation *, std::string> tableOf; ///< over all attempts

  // One attempt.
  func::FuncOp body;
  IndexSpace space;
  Index row;
  Value thread;          ///< its number in a block
  bool isSpread = false; ///< a loop that threads share
  Outcome outcome = Outcome::Done;
  bool wantsAgain = false;
  bool inMapStage = false;
  bool wantsRowBlock = false; ///< a transposition runs along the rows
  std::string reason;
  std::optional<Location> reasonLoc;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, unsigned> readFrom;                ///< into buffers
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> writeTo; ///< into buffers
  std::vector<Temporary> temporaries; ///< the last arguments of the body
  llvm::DenseMap<Value, Scalar> rowScalars;
  std::vector<std::map<std::pair<void *, SmallVector<Index>>, Scalar>> scopes;
  std::vector<Loop> loops;
  llvm::DenseMap<Value, unsigned> costlyStage;
  llvm::DenseMap<Value, unsigned> evaluations;
  unsigned stage = 0;
};

/// Neighbouring elements that a thread of a GPU takes at once: 16 bytes of a
/// narrow type.
inline constexpr int64_t kGridWidth = 8;

/// Whether a reduction or contraction runs along contiguous elements, so that
/// its accumulators are registers.
bool reducesInRegisters(Operation *op);

} // namespace mlir::sp

#endif // SP_CODEGEN_KERNELEMITTER_H
