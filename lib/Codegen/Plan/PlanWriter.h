/// Writes the plan of a module that has passed Memory.
///
/// Index values become expressions of a rank's coordinates and loop counters,
/// tensor values become views of the arena or of the constants, operations
/// become commands in program order.
#ifndef SP_LIB_CODEGEN_PLANWRITER_H
#define SP_LIB_CODEGEN_PLANWRITER_H

#include "Plan/KernelInfo.h"

#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"
#include "sprt/plan_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sp {

class PlanWriter {
public:
  PlanWriter(ModuleOp module, KernelLookup lookup)
      : module(module), lookup(lookup) {}

  /// The whole plan of `@main`.
  FailureOr<sprt::plan::PlanT> write(const EmittedProgram &program);

  using Commands = std::vector<std::unique_ptr<sprt::plan::CommandT>>;
  using ExprPtr = std::unique_ptr<sprt::plan::ExprT>;
  using ViewPtr = std::unique_ptr<sprt::plan::ViewT>;

  static sprt::plan::DType dtype(Type type);

private:
  LogicalResult writeBlock(Block &block, Commands &into);
  LogicalResult writeOp(Operation *op, Commands &into);
  void writeParameters(func::FuncOp func);
  std::unique_ptr<sprt::plan::ParameterT>
  parameter(StringRef name, Type type, ShardingAttr sharding, ViewPtr view);

  // PlanAttention.cpp
  /// `dims` says which dimensions are batch, head, query and key, -1 for none.
  std::unique_ptr<sprt::plan::ScoreTermT> term(Value value,
                                               std::array<int64_t, 4> dims);
  template <typename OpT, typename TableT>
  void writePairs(OpT op, const KernelInfo &info, TableT &attend);
  template <typename OpT, typename TableT>
  void writeTerms(OpT op, TableT &attend);
  void writeAttend(AttendOp op, Commands &into);
  void writeAttendBackward(AttendBackwardOp op, Commands &into);

  // PlanCommands.cpp
  /// A command of the compute stream.
  template <typename OperationT>
  static std::unique_ptr<sprt::plan::CommandT> compute(StringRef name,
                                                       OperationT operation) {
    auto command = std::make_unique<sprt::plan::CommandT>();
    command->name = name.str();
    command->stream = sprt::plan::Stream::compute;
    command->operation.Set(std::move(operation));
    return command;
  }
  void writeLaunch(LaunchOp op, Commands &into);
  void writeGemm(GemmOp op, Commands &into);
  void writeCopy(Value from, Value to, Commands &into);
  LogicalResult writeFor(Operation *op, Commands &into);
  LogicalResult writeWhile(Operation *op, Commands &into);
  LogicalResult writeCase(Operation *op, Commands &into);
  void writeRows(LayoutAttr layout, sprt::plan::RowsQuery query, Value target,
                 Commands &into);
  uint32_t kernelNumber(const KernelInfo &info);

  // PlanCommunication.cpp
  void writeCommunication(CommunicationOpInterface start, Commands &into);
  void writeShift(ShiftStartOp op, sprt::plan::CommandT &command);
  void writeAllGather(AllGatherStartOp op, sprt::plan::CommandT &command);
  void writeAllToAll(AllToAllStartOp op, sprt::plan::CommandT &command);
  void writeAllReduce(AllReduceStartOp op, sprt::plan::CommandT &command);
  void writeReduceScatter(ReduceScatterStartOp op,
                          sprt::plan::CommandT &command);
  std::unique_ptr<sprt::plan::StridedT> rowsView(Value value, int64_t dim);
  std::unique_ptr<sprt::plan::StridedT> headsView(Value value);
  uint32_t syncBefore(Commands &into);

  // PlanExpressions.cpp
  ExprPtr constant(int64_t value);
  ExprPtr expression(Value index);
  ExprPtr expression(AffineExpr expr, ArrayRef<ExprPtr> dims);
  ExprPtr coordinate(AxisAttr axis);
  /// This rank's coordinate along the layout's axis; 0 for a dense layout.
  ExprPtr owner(LayoutAttr layout);
  ExprPtr rowCount(LayoutAttr layout, ExprPtr owner);
  /// The first head of `kvHeads` that this rank's query heads read, and how
  /// many it holds.
  ExprPtr firstKvHead(LayoutAttr heads, int64_t kvHeads);
  ExprPtr kvHeadCount(LayoutAttr heads, int64_t kvHeads);
  ExprPtr combine(ExprPtr a, ExprPtr b, sprt::plan::ExprOp op);
  /// `number` of those that begin behind `before` others.
  ExprPtr behind(int64_t before, ExprPtr number);
  /// First of `length` things dealt contiguously by `layout`.
  ExprPtr firstOf(LayoutAttr layout);
  /// The rank at `coordinate` along `axis` and with this rank's others.
  ExprPtr rankAt(AxisAttr axis, ExprPtr coordinate);
  /// The ring owner whose block comes from `distance` before along a factor of
  /// the layout's axis, where that of `owner` is handed on.
  ExprPtr ownerBehind(LayoutAttr layout, AxisAttr axis, ExprPtr owner,
                      int64_t distance);
  std::unique_ptr<sprt::plan::RowsT> rows(LayoutAttr layout, ExprPtr owner);
  ViewPtr view(Value value);
  uint32_t layoutNumber(LayoutAttr layout);
  uint32_t factorNumber(AxisAttr axis);
  std::vector<sprt::plan::Band> bandList(ArrayAttr bands);

  ModuleOp module;
  KernelLookup lookup;
  sprt::plan::PlanT plan;
  MeshOp mesh;
  DenseMap<Attribute, uint32_t> layouts;
  llvm::StringMap<uint32_t> kernels;
  /// The event that a started communication records.
  DenseMap<Value, uint32_t> events;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLANWRITER_H
