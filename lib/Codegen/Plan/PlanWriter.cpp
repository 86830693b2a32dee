//===- PlanWriter.cpp - Operations as commands ----------------------------===//

#include "Plan/PlanWriter.h"
#include "Plan/PlanOperations.h"
#include "Plan/Subjects.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/SourceLines.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"
#include "sprt/types.h"

using namespace mlir;
using namespace mlir::sp;
namespace plan = sprt::plan;

namespace {

using Commands = std::vector<std::unique_ptr<plan::CommandT>>;

class PlanWriter {
public:
  PlanWriter(func::FuncOp func, MeshOp mesh, KernelLookup lookup,
             function_ref<int64_t(Operation *)> liveBytes, plan::PlanT &plan)
      : func(func), lookup(lookup), liveBytes(liveBytes), plan(plan),
        tables(mesh, plan), expressions(tables) {}

  LogicalResult write(const EmittedProgram &program);

private:
  LogicalResult writeBlock(Block &block, Commands &into);
  LogicalResult writeOp(Operation *op, Commands &into);
  void writeParameters();
  std::unique_ptr<plan::ParameterT>
  parameter(StringRef name, Type type, ShardingAttr sharding, ViewPtr view);

  /// A command of the compute stream.
  template <typename OperationT>
  static std::unique_ptr<plan::CommandT> compute(StringRef name,
                                                 OperationT operation) {
    auto command = std::make_unique<plan::CommandT>();
    command->name = name.str();
    command->stream = plan::Stream::compute;
    command->operation.Set(std::move(operation));
    return command;
  }
  /// Named by the attention, where that has a name.
  template <typename OpT, typename TableT>
  static void writeAttention(OpT op, TableT table, Commands &into) {
    StringRef name = op.getName();
    into.push_back(
        compute(name.empty() ? OpT::getOperationName().drop_front(3) : name,
                std::move(table)));
  }
  void writeLaunch(LaunchOp op, Commands &into);
  void writeGemm(GemmOp op, Commands &into);
  void writeCopy(Value from, Value to, Commands &into);
  LogicalResult writeFor(Operation *op, Commands &into);
  LogicalResult writeWhile(Operation *op, Commands &into);
  LogicalResult writeCase(Operation *op, Commands &into);
  void writeRows(LayoutAttr layout, plan::RowsQuery query, Value target,
                 Commands &into);
  void writeCommunication(CommunicationOpInterface start, Commands &into);
  uint32_t syncBefore(Commands &into);

  func::FuncOp func;
  KernelLookup lookup;
  function_ref<int64_t(Operation *)> liveBytes;
  plan::PlanT &plan;
  PlanTables tables;
  PlanExpressions expressions;
  /// The event that a started communication records.
  DenseMap<Value, uint32_t> events;
};

} // namespace

void PlanWriter::writeLaunch(LaunchOp op, Commands &into) {
  KernelInfo info = lookup.of(op);
  plan::LaunchT launch;
  launch.kernel = tables.kernelNumber(info);
  launch.tiles = info.tiles;
  launch.scratch_bytes = info.scratchBytes;
  launch.flops = info.flops;
  for (Value value : op.getOperands())
    launch.buffers.push_back(expressions.view(value));
  for (Value value : op.getResults())
    launch.buffers.push_back(expressions.view(value));
  into.push_back(compute(op.getKernel(), std::move(launch)));
}

static plan::Activation activationOf(Activation activation) {
  switch (activation) {
  case Activation::None:
    return plan::Activation::none;
  case Activation::Relu:
    return plan::Activation::relu;
  case Activation::Gelu:
    return plan::Activation::gelu;
  }
  llvm_unreachable("every activation is above");
}

void PlanWriter::writeGemm(GemmOp op, Commands &into) {
  plan::GemmT gemm;
  gemm.type = dtypeOf(getElementTypeOrSelf(op.getLhs().getType()));
  gemm.out_type = dtypeOf(getElementTypeOrSelf(op.getType()));
  gemm.a = expressions.view(op.getLhs());
  gemm.b = expressions.view(op.getRhs());
  gemm.c = expressions.view(op.getResult());
  ArrayRef<int64_t> sizes = op.getSizes();
  gemm.batch = sizes[0];
  gemm.m = sizes[1];
  gemm.n = sizes[2];
  gemm.k = sizes[3];
  gemm.a_strides = op.getLhsStrides().vec();
  gemm.b_strides = op.getRhsStrides().vec();
  gemm.c_strides = {sizes[1] * sizes[2], sizes[2], 1};
  gemm.onto = op.getOnto() != nullptr;
  if (op.getBias())
    gemm.bias = expressions.view(op.getBias());
  gemm.activation = activationOf(op.getActivation());
  into.push_back(compute("gemm", std::move(gemm)));
}

void PlanWriter::writeCopy(Value from, Value to, Commands &into) {
  into.push_back(compute("copy", expressions.copy(from, to)));
}

void PlanWriter::writeRows(LayoutAttr layout, plan::RowsQuery query,
                           Value target, Commands &into) {
  plan::RowsTableT table;
  table.rows = expressions.rows(layout, expressions.owner(layout));
  table.query = query;
  table.target = expressions.view(target);
  table.count = cast<RankedTensorType>(target.getType()).getNumElements();
  table.type = dtypeOf(getElementTypeOrSelf(target.getType()));
  into.push_back(
      compute(query == plan::RowsQuery::positions ? "positions" : "row_count",
              std::move(table)));
}

/// Has commands, and all within them, be of a row of the batch.
static void ofRow(const std::vector<std::unique_ptr<plan::CommandT>> &commands,
                  const ExprPtr &row) {
  for (const std::unique_ptr<plan::CommandT> &command : commands) {
    command->row = std::make_unique<plan::ExprT>(*row);
    if (plan::LoopT *loop = command->operation.AsLoop())
      ofRow(loop->body, row);
    if (plan::WhileT *loop = command->operation.AsWhile()) {
      ofRow(loop->condition, row);
      ofRow(loop->body, row);
    }
    if (plan::CaseT *choice = command->operation.AsCase())
      for (const std::unique_ptr<plan::BranchT> &branch : choice->branches)
        ofRow(branch->body, row);
  }
}

LogicalResult PlanWriter::writeFor(Operation *op, Commands &into) {
  auto loop = cast<scf::ForOp>(op);
  plan::LoopT table;
  table.lower = expressions.expression(loop.getLowerBound());
  table.upper = expressions.expression(loop.getUpperBound());
  if (failed(writeBlock(*loop.getBody(), table.body)))
    return failure();
  if (op->hasAttr(kRowsOfBatch))
    ofRow(table.body, expressions.expression(loop.getInductionVar()));
  into.push_back(compute("loop", std::move(table)));
  return success();
}

LogicalResult PlanWriter::writeWhile(Operation *op, Commands &into) {
  auto loop = cast<stablehlo::WhileOp>(op);
  plan::WhileT table;
  Block &condition = loop.getCond().front();
  if (failed(writeBlock(condition, table.condition)) ||
      failed(writeBlock(loop.getBody().front(), table.body)))
    return failure();
  table.predicate = expressions.view(condition.getTerminator()->getOperand(0));
  if (auto trips = loop->getAttrOfType<IntegerAttr>(kTrips))
    table.trips = trips.getInt();
  into.push_back(compute("while", std::move(table)));
  return success();
}

LogicalResult PlanWriter::writeCase(Operation *op, Commands &into) {
  plan::CaseT table;
  table.index = expressions.view(op->getOperand(0));
  table.type = dtypeOf(getElementTypeOrSelf(op->getOperand(0).getType()));
  for (Region &region : op->getRegions()) {
    auto branch = std::make_unique<plan::BranchT>();
    if (failed(writeBlock(region.front(), branch->body)))
      return failure();
    table.branches.push_back(std::move(branch));
  }
  // An i1 index picks branch 1 when true; `if` lists the true branch first.
  if (isa<stablehlo::IfOp>(op))
    std::swap(table.branches[0], table.branches[1]);
  into.push_back(compute("case", std::move(table)));
  return success();
}

/// An event that is recorded once all compute so far is done.
uint32_t PlanWriter::syncBefore(Commands &into) {
  uint32_t event = plan.events++;
  auto sync = std::make_unique<plan::CommandT>();
  sync->name = "ready";
  sync->stream = plan::Stream::compute;
  sync->records = event;
  sync->operation.Set(plan::SyncT());
  into.push_back(std::move(sync));
  return event;
}

static plan::Stream toPlan(Stream stream) {
  switch (stream) {
  case Stream::Compute:
    return plan::Stream::compute;
  case Stream::Comm:
    return plan::Stream::comm;
  case Stream::Back:
    return plan::Stream::back;
  case Stream::In:
    return plan::Stream::in;
  case Stream::Out:
    return plan::Stream::out;
  }
  llvm_unreachable("unknown stream");
}

void PlanWriter::writeCommunication(CommunicationOpInterface start,
                                    Commands &into) {
  Operation *op = start;
  uint32_t ready = syncBefore(into);
  auto command = std::make_unique<plan::CommandT>();
  command->name =
      op->getName().stripDialect().drop_back(StringRef("_start").size()).str();
  command->stream = toPlan(start.getStream());
  command->waits.push_back(ready);
  // The last turn has no next one.
  if (op->hasAttr(kAhead)) {
    auto loop = cast<scf::ForOp>(op->getParentOp());
    command->when =
        combine(behind(1, expressions.expression(loop.getInductionVar())),
                expressions.expression(loop.getUpperBound()), plan::ExprOp::lt);
  }
  uint32_t done = plan.events++;
  writeMove(start, expressions, *command);
  command->records = done;
  events[start.getToken()] = done;
  into.push_back(std::move(command));
}

LogicalResult PlanWriter::writeOp(Operation *op, Commands &into) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return writeLaunch(launch, into), success();
  if (auto attend = dyn_cast<AttendOp>(op))
    return writeAttention(attend, writeAttend(attend, expressions, lookup),
                          into),
           success();
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    return writeAttention(backward,
                          writeAttendBackward(backward, expressions, lookup),
                          into),
           success();
  if (auto gemm = dyn_cast<GemmOp>(op))
    return writeGemm(gemm, into), success();
  if (auto copy = dyn_cast<CopyOp>(op))
    return writeCopy(copy.getInput(), copy.getResult(), into), success();
  if (auto positions = dyn_cast<PositionsOp>(op))
    return writeRows(positions.getLayout(), plan::RowsQuery::positions,
                     positions.getResult(), into),
           success();
  if (auto count = dyn_cast<RowCountOp>(op))
    return writeRows(count.getLayout(), plan::RowsQuery::count,
                     count.getResult(), into),
           success();
  if (isa<scf::ForOp>(op))
    return writeFor(op, into);
  if (isa<stablehlo::WhileOp>(op))
    return writeWhile(op, into);
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
    return writeCase(op, into);
  if (auto start = dyn_cast<CommunicationOpInterface>(op))
    return writeCommunication(start, into), success();
  if (auto wait = dyn_cast<WaitOp>(op)) {
    auto sync = compute("wait", plan::SyncT());
    sync->waits.push_back(events.at(wait.getToken()));
    into.push_back(std::move(sync));
    return success();
  }
  // Constants, empty stacks and reshapes are places, index arithmetic is in the
  // expressions.
  return success();
}

LogicalResult PlanWriter::writeBlock(Block &block, Commands &into) {
  for (Operation &op : block) {
    size_t before = into.size();
    if (failed(writeOp(&op, into)))
      return failure();
    for (const auto &command : llvm::drop_begin(into, before)) {
      command->location = describeSourceLine(op.getLoc());
      command->subject = subjectOf(&op);
      if (liveBytes)
        command->live_bytes = liveBytes(&op);
    }
  }
  return success();
}

std::unique_ptr<plan::ParameterT> PlanWriter::parameter(StringRef name,
                                                        Type type,
                                                        ShardingAttr sharding,
                                                        ViewPtr view) {
  auto parameter = std::make_unique<plan::ParameterT>();
  parameter->name = name.str();
  parameter->type = dtypeOf(cast<RankedTensorType>(type).getElementType());
  parameter->view = std::move(view);
  for (DimAttr dim : sharding.getDims()) {
    auto table = std::make_unique<plan::DimT>();
    for (AtomAttr atom : dim.getAtoms()) {
      auto part = std::make_unique<plan::AtomT>();
      part->size = part->local_size = atom.getSize();
      if (LayoutAttr layout = atom.getLayout()) {
        part->local_size = layout.getMaxCount();
        part->layout = tables.layoutNumber(layout);
        part->owner = expressions.owner(layout);
      }
      table->atoms.push_back(std::move(part));
    }
    parameter->dims.push_back(std::move(table));
  }
  return parameter;
}

void PlanWriter::writeParameters() {
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::string name = "arg" + std::to_string(number);
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      name = named.getName().str();
    plan.inputs.push_back(
        parameter(name, argument.getType(),
                  func.getArgAttrOfType<ShardingAttr>(number, kSharding),
                  expressions.view(argument)));
    if (std::optional<unsigned> result = donatedTo(func, number))
      plan.inputs.back()->donated_to = static_cast<int32_t>(*result);
  }
  for (auto [number, result] :
       llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
    plan.results.push_back(
        parameter("result" + std::to_string(number), result.getType(),
                  func.getResultAttrOfType<ShardingAttr>(number, kSharding),
                  expressions.view(result)));
}

LogicalResult PlanWriter::write(const EmittedProgram &program) {
  plan.version = SPRT_ABI_VERSION;
  plan.model =
      func->getParentOfType<ModuleOp>().getName().value_or("main").str();
  plan.features = program.features;
  plan.target = program.isCuda ? plan::Target::cuda : plan::Target::cpu;
  for (const EmittedImage &image : program.images) {
    auto table = std::make_unique<plan::ImageT>();
    table->symbol = image.symbol;
    table->bytes = static_cast<int64_t>(image.bytes.size());
    table->architecture = image.architecture;
    plan.images.push_back(std::move(table));
  }
  plan.ranks = tables.getMesh().getRanks();
  if (std::optional<AxisListAttr> processes = tables.getMesh().getProcesses())
    for (AxisAttr factor : processes->getAxes())
      plan.processes.push_back(tables.factorNumber(factor));
  plan.arena_bytes = *bytesOf(func, Space::Arena);
  plan.constant_bytes = *bytesOf(func, Space::Constants);
  plan.far_bytes = *bytesOf(func, Space::Far);
  if (failed(writeBlock(func.getBody().front(), plan.commands)))
    return failure();
  writeParameters();
  return success();
}

FailureOr<plan::PlanT>
mlir::sp::writePlan(ModuleOp module, KernelLookup lookup,
                    const EmittedProgram &program,
                    function_ref<int64_t(Operation *)> liveBytes) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  MeshOp mesh = getMesh(module);
  if (!func || !mesh)
    return module.emitError() << "expected @main and a mesh";
  plan::PlanT plan;
  if (failed(PlanWriter(func, mesh, lookup, liveBytes, plan).write(program)))
    return failure();
  return std::move(plan);
}
