//===- PlanCommands.cpp - Operations as commands --------------------------===//

#include "Plan/PlanWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"
#include "sprt/types.h"

using namespace mlir;
using namespace mlir::sp;
namespace plan = sprt::plan;

uint32_t PlanWriter::kernelNumber(const KernelInfo &info) {
  auto [entry, isNew] = kernels.try_emplace(info.symbol, plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->symbol = info.symbol;
    kernel->threads = info.threads;
    kernel->shared_bytes = info.sharedBytes;
    plan.kernels.push_back(std::move(kernel));
  }
  plan.scratch_bytes = std::max(plan.scratch_bytes, info.scratchBytes);
  return entry->second;
}

void PlanWriter::writeLaunch(LaunchOp op, Commands &into) {
  KernelInfo info = lookup.of(op);
  plan::LaunchT launch;
  launch.kernel = kernelNumber(info);
  launch.tiles = info.tiles;
  launch.scratch_bytes = info.scratchBytes;
  for (Value value : op.getOperands())
    launch.buffers.push_back(view(value));
  for (Value value : op.getResults())
    launch.buffers.push_back(view(value));
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
  gemm.type = dtype(getElementTypeOrSelf(op.getLhs().getType()));
  gemm.out_type = dtype(getElementTypeOrSelf(op.getType()));
  gemm.a = view(op.getLhs());
  gemm.b = view(op.getRhs());
  gemm.c = view(op.getResult());
  ArrayRef<int64_t> sizes = op.getSizes();
  gemm.batch = sizes[0];
  gemm.m = sizes[1];
  gemm.n = sizes[2];
  gemm.k = sizes[3];
  gemm.a_strides = op.getLhsStrides().vec();
  gemm.b_strides = op.getRhsStrides().vec();
  gemm.c_strides = {sizes[1] * sizes[2], sizes[2], 1};
  if (op.getBias())
    gemm.bias = view(op.getBias());
  gemm.activation = activationOf(op.getActivation());
  into.push_back(compute("gemm", std::move(gemm)));
}

void PlanWriter::writeCopy(Value from, Value to, Commands &into) {
  plan::CopyT copy;
  copy.source = view(from);
  copy.target = view(to);
  into.push_back(compute("copy", std::move(copy)));
}

void PlanWriter::writeRows(LayoutAttr layout, plan::RowsQuery query,
                           Value target, Commands &into) {
  plan::RowsTableT table;
  table.rows = rows(layout, owner(layout));
  table.query = query;
  table.target = view(target);
  table.count = cast<RankedTensorType>(target.getType()).getNumElements();
  table.type = dtype(getElementTypeOrSelf(target.getType()));
  into.push_back(
      compute(query == plan::RowsQuery::positions ? "positions" : "row_count",
              std::move(table)));
}

LogicalResult PlanWriter::writeFor(Operation *op, Commands &into) {
  auto loop = cast<scf::ForOp>(op);
  plan::LoopT table;
  table.lower = expression(loop.getLowerBound());
  table.upper = expression(loop.getUpperBound());
  if (failed(writeBlock(*loop.getBody(), table.body)))
    return failure();
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
  table.predicate = view(condition.getTerminator()->getOperand(0));
  if (auto trips = loop->getAttrOfType<IntegerAttr>(kTrips))
    table.trips = trips.getInt();
  into.push_back(compute("while", std::move(table)));
  return success();
}

LogicalResult PlanWriter::writeCase(Operation *op, Commands &into) {
  plan::CaseT table;
  table.index = view(op->getOperand(0));
  table.type = dtype(getElementTypeOrSelf(op->getOperand(0).getType()));
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

LogicalResult PlanWriter::writeOp(Operation *op, Commands &into) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return writeLaunch(launch, into), success();
  if (auto attend = dyn_cast<AttendOp>(op))
    return writeAttend(attend, into), success();
  if (auto backward = dyn_cast<AttendBackwardOp>(op))
    return writeAttendBackward(backward, into), success();
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
  // Constants and reshapes are places, index arithmetic is in the expressions.
  return success();
}

LogicalResult PlanWriter::writeBlock(Block &block, Commands &into) {
  for (Operation &op : block)
    if (failed(writeOp(&op, into)))
      return failure();
  return success();
}

std::unique_ptr<plan::ParameterT> PlanWriter::parameter(StringRef name,
                                                        Type type,
                                                        ShardingAttr sharding,
                                                        ViewPtr view) {
  auto parameter = std::make_unique<plan::ParameterT>();
  parameter->name = name.str();
  parameter->type = dtype(cast<RankedTensorType>(type).getElementType());
  parameter->view = std::move(view);
  for (DimAttr dim : sharding.getDims()) {
    auto table = std::make_unique<plan::DimT>();
    for (AtomAttr atom : dim.getAtoms()) {
      auto part = std::make_unique<plan::AtomT>();
      part->size = part->local_size = atom.getSize();
      if (LayoutAttr layout = atom.getLayout()) {
        part->local_size = layout.getMaxCount();
        part->layout = layoutNumber(layout);
        part->owner = owner(layout);
      }
      table->atoms.push_back(std::move(part));
    }
    parameter->dims.push_back(std::move(table));
  }
  return parameter;
}

void PlanWriter::writeParameters(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::string name = "arg" + std::to_string(number);
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      name = named.getName().str();
    plan.inputs.push_back(
        parameter(name, argument.getType(),
                  func.getArgAttrOfType<ShardingAttr>(number, kSharding),
                  view(argument)));
    if (std::optional<unsigned> result = donatedTo(func, number))
      plan.inputs.back()->donated_to = static_cast<int32_t>(*result);
  }
  for (auto [number, result] :
       llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
    plan.results.push_back(
        parameter("result" + std::to_string(number), result.getType(),
                  func.getResultAttrOfType<ShardingAttr>(number, kSharding),
                  view(result)));
}

FailureOr<plan::PlanT> PlanWriter::write(const EmittedProgram &program) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  mesh = getMesh(module);
  if (!func || !mesh)
    return module.emitError() << "expected @main and a mesh";
  plan.version = SPRT_ABI_VERSION;
  plan.model = module.getName().value_or("main").str();
  plan.features = program.features;
  plan.target = program.isCuda ? plan::Target::cuda : plan::Target::cpu;
  for (const EmittedImage &image : program.images) {
    auto table = std::make_unique<plan::ImageT>();
    table->symbol = image.symbol;
    table->bytes = static_cast<int64_t>(image.bytes.size());
    table->architecture = image.architecture;
    plan.images.push_back(std::move(table));
  }
  plan.ranks = mesh.getRanks();
  int64_t stride = plan.ranks;
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    stride /= axis.getSize();
    auto factor = std::make_unique<plan::FactorT>();
    factor->name = axis.getName().str();
    factor->size = axis.getSize();
    factor->stride = stride;
    plan.factors.push_back(std::move(factor));
  }
  if (std::optional<AxisListAttr> processes = mesh.getProcesses())
    for (AxisAttr factor : processes->getAxes())
      plan.processes.push_back(factorNumber(factor));
  plan.arena_bytes = *bytesOf(func, Space::Arena);
  plan.constant_bytes = *bytesOf(func, Space::Constants);
  if (failed(writeBlock(func.getBody().front(), plan.commands)))
    return failure();
  writeParameters(func);
  return std::move(plan);
}
