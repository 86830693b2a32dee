//===- DeriveRoles.cpp - Mesh axes by what shardings use them for ---------===//
//
// Sequence and batch of every attention are marked as if they were dealt, and
// the marks propagate as shardings do. Where a mark meets a mesh axis, that is
// the axis of the role.
//
//===----------------------------------------------------------------------===//

#include "DeriveRoles.h"

#include "sp/IR/ShardingPropagation.h"

using namespace mlir;
using namespace mlir::sp;

static constexpr llvm::StringLiteral kSequence = "sequence", kBatch = "batch";

/// Marks a dimension of more than one position.
static void mark(ShardingPropagation &marks, Value value, unsigned index,
                 StringRef role) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(index);
  if (size > 1)
    marks.deal(value, index,
               dealtDim(LayoutAttr::get(
                   value.getContext(), LayoutKind::Contiguous, size,
                   AxisAttr::get(value.getContext(), role), /*ranks=*/2)));
}

/// Reads roles off a sharded value; what is known already stays.
static void readRoles(sdy::TensorShardingAttr sharding, ArrayRef<DimAttr> dims,
                      Roles &roles) {
  if (!sharding || sharding.getDimShardings().size() != dims.size())
    return;
  for (auto [entry, dim] : llvm::zip_equal(sharding.getDimShardings(), dims)) {
    SmallVector<StringRef> marks;
    for (AtomAttr atom : dim.getAtoms())
      if (atom.getLayout())
        marks.push_back(atom.getLayout().getAxis().getName());
    if (marks.size() != entry.getAxes().size())
      continue;
    for (auto [role, axis] : llvm::zip_equal(marks, entry.getAxes())) {
      StringRef &known = role == kSequence ? roles.sequence : roles.batch;
      if (known.empty() && !axis.getSubAxisInfo())
        known = axis.getName();
    }
  }
}

/// Whether shapes are static, as propagation needs them.
static bool isStatic(func::FuncOp func) {
  auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  WalkResult walked = func.getBody().walk([&](Operation *op) {
    return llvm::all_of(op->getResultTypes(), isTensor) &&
                   llvm::all_of(
                       op->getRegions(),
                       [](Region &region) { return region.hasOneBlock(); })
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return !walked.wasInterrupted() &&
         llvm::all_of(func.getArgumentTypes(), isTensor);
}

Roles mlir::sp::deriveRoles(ModuleOp module) {
  Roles roles;
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func || !func.getBody().hasOneBlock() || !isStatic(func) ||
      module.getOps<sdy::MeshOp>().empty())
    return roles;
  ShardingPropagation marks(func);
  auto markAttention = [&](auto op) {
    mark(marks, op.getQuery(), 1, kSequence);
    mark(marks, op.getKey(), 1, kSequence);
    mark(marks, op.getQuery(), 0, kBatch);
  };
  func.walk([&](AttentionOp op) { markAttention(op); });
  func.walk([&](AttentionBackwardOp op) { markAttention(op); });
  marks.run();
  for (BlockArgument argument : func.getArguments())
    readRoles(func.getArgAttrOfType<sdy::TensorShardingAttr>(
                  argument.getArgNumber(), "sdy.sharding"),
              marks.dimsOf(argument), roles);
  func.walk([&](sdy::ShardingConstraintOp op) {
    readRoles(op.getSharding(), marks.dimsOf(op.getResult()), roles);
  });
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    readRoles(func.getResultAttrOfType<sdy::TensorShardingAttr>(index,
                                                                "sdy.sharding"),
              marks.dimsOf(value), roles);
  return roles;
}
