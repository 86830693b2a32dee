//===- RankOps.cpp - What one rank does on its own ------------------------===//
#include "Elementwise.h"
#include "Ranks.h"
#include "StackRows.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "sp/IR/AffineEvaluation.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::interpreter;

//===----------------------------------------------------------------------===//
// Numbers of ranks and rows
//===----------------------------------------------------------------------===//

static Tensor indexOf(Operation *op, int64_t value) {
  return Tensor::splat<int64_t>(heldAs(op->getResult(0).getType()), value);
}

static FailureOr<Tensor> rankOp(sp::RankOp op, Tensors &,
                                Evaluator &evaluator) {
  FailureOr<Axis> axis = Axis::find(op, op.getAxis());
  if (failed(axis))
    return failure();
  return indexOf(op, axis->coordinate(evaluator.getDevice()));
}

/// Before there is a batch all owners are one group.
static FailureOr<Tensor> groupSizeOp(sp::GroupSizeOp op, Tensors &,
                                     Evaluator &) {
  return indexOf(op, op.getLayout().getRanks());
}

static FailureOr<Tensor> groupSourceOp(sp::GroupSourceOp op, Tensors &operands,
                                       Evaluator &evaluator) {
  FailureOr<Owners> owners = Owners::find(op, op.getLayout());
  if (failed(owners))
    return failure();
  int64_t size = op.getLayout().getRanks(),
          steps = operands[0].at<int64_t>() % size,
          owner = owners->ownerAt(evaluator.getDevice());
  return indexOf(op, (owner - steps + size) % size);
}

static FailureOr<Tensor> indexConstantOp(arith::ConstantOp op, Tensors &,
                                         Evaluator &) {
  if (!op.getType().isIndex())
    return op.emitOpError() << "is not evaluated but for an index";
  return indexOf(op, cast<IntegerAttr>(op.getValue()).getInt());
}

static FailureOr<Tensor> applyOp(affine::AffineApplyOp op, Tensors &operands,
                                 Evaluator &) {
  SmallVector<int64_t> known;
  for (const Tensor &operand : operands)
    known.push_back(operand.at<int64_t>());
  std::optional<int64_t> index = sp::evaluate(op.getAffineMap(), known);
  if (!index)
    return op.emitOpError()
           << "cannot be evaluated: it divides by 0 or overflows";
  return indexOf(op, *index);
}

static FailureOr<Tensor> positionsOp(sp::PositionsOp op, Tensors &,
                                     Evaluator &evaluator) {
  FailureOr<Owners> owners = Owners::find(op, op.getLayout());
  if (failed(owners))
    return failure();
  // Padding repeats position 0.
  Tensor result = Tensor::splat<int64_t>(
      cast<RankedTensorType>(op.getResult().getType()), 0);
  int64_t rank = evaluator.getDevice();
  for (int64_t row = 0; row < owners->countAt(rank); ++row)
    result.mutableElements<int64_t>()[row] =
        owners->rows().toGlobal(owners->ownerAt(rank), row);
  return result;
}

static FailureOr<Tensor> rowCountOp(sp::RowCountOp op, Tensors &,
                                    Evaluator &evaluator) {
  FailureOr<Owners> owners = Owners::find(op, op.getLayout());
  if (failed(owners))
    return failure();
  return scalarInteger(op, owners->countAt(evaluator.getDevice()));
}

//===----------------------------------------------------------------------===//
// Rows of stacks
//===----------------------------------------------------------------------===//

/// Rows that nobody puts would be seen: they are not numbers.
static FailureOr<Tensor> emptyOp(sp::EmptyOp op, Tensors &, Evaluator &) {
  Tensor result(op.getResult().getType());
  if (result.getStorage() == Storage::Float)
    llvm::fill(result.mutableElements<double>(),
               std::numeric_limits<double>::quiet_NaN());
  return result;
}

static FailureOr<Tensor> takeOp(sp::TakeOp op, Tensors &operands, Evaluator &) {
  return takeRows(op, operands);
}

static FailureOr<Tensor> putOp(sp::PutOp op, Tensors &operands, Evaluator &) {
  return putRows(op, operands);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static FailureOr<Tensors> launchOp(sp::LaunchOp op, Tensors &operands,
                                   Evaluator &evaluator) {
  auto kernel = evaluator.lookup<func::FuncOp>(op, op.getKernelAttr());
  if (!kernel)
    return op.emitOpError()
           << "cannot be evaluated: there is no kernel " << op.getKernelAttr();
  return evaluator.call(kernel, std::move(operands), op);
}

static double activated(sp::Activation activation, double x) {
  switch (activation) {
  case sp::Activation::None:
    return x;
  case sp::Activation::Relu:
    return x < 0 ? 0 : x;
  case sp::Activation::Gelu:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 * llvm::numbers::inv_pi) *
                          (x + 0.044715 * x * x * x)));
  }
  llvm_unreachable("every activation is above");
}

static FailureOr<Tensor> gemmOp(sp::GemmOp op, Tensors &operands,
                                Evaluator &evaluator) {
  for (const Tensor &operand : operands)
    if (operand.getStorage() != Storage::Float)
      return unsupportedElements(op, operand.getElementType());
  ArrayRef<int64_t> sizes = op.getSizes(), byLhs = op.getLhsStrides(),
                    byRhs = op.getRhsStrides();
  ArrayRef<double> lhs = operands[0].elements<double>(),
                   rhs = operands[1].elements<double>(), onto, bias;
  if (op.getOnto())
    onto = operands[2].elements<double>();
  if (op.getBias())
    bias = operands.back().elements<double>();
  int64_t batch = sizes[0], m = sizes[1], n = sizes[2], k = sizes[3];
  auto last = [](std::array<int64_t, 3> counts, ArrayRef<int64_t> strides) {
    int64_t at = 0;
    for (auto [count, stride] : llvm::zip_equal(counts, strides))
      at += (count - 1) * stride;
    return at;
  };
  bool isEmpty = batch * m * n * k == 0;
  if (!isEmpty && (last({batch, m, k}, byLhs) >= int64_t(lhs.size()) ||
                   last({batch, k, n}, byRhs) >= int64_t(rhs.size())))
    return op.emitOpError()
           << "cannot be evaluated: its strides lead out of the operands";
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  MutableArrayRef<double> out = result.mutableElements<double>();
  for (int64_t b = 0, at = 0; b < batch; ++b)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j, ++at) {
        double sum = onto.empty() ? 0 : onto[at];
        for (int64_t l = 0; l < k; ++l)
          sum += lhs[b * byLhs[0] + i * byLhs[1] + l * byLhs[2]] *
                 rhs[b * byRhs[0] + l * byRhs[1] + j * byRhs[2]];
        out[at] =
            activated(op.getActivation(), bias.empty() ? sum : sum + bias[j]);
      }
  evaluator.rounderFor(result.getElementType()).apply(result);
  return result;
}

void interpreter::addRankOps(Handlers &handlers) {
  handlers.add<sp::RankOp>(rankOp);
  handlers.add<sp::GroupSizeOp>(groupSizeOp);
  handlers.add<sp::GroupSourceOp>(groupSourceOp);
  handlers.add<arith::ConstantOp>(indexConstantOp);
  handlers.add<affine::AffineApplyOp>(applyOp);
  handlers.add<sp::PositionsOp>(positionsOp);
  handlers.add<sp::RowCountOp>(rowCountOp);
  handlers.add<sp::EmptyOp>(emptyOp);
  handlers.add<sp::TakeOp>(takeOp);
  handlers.add<sp::PutOp>(putOp);
  handlers.add<sp::LaunchOp>(launchOp);
  handlers.add<sp::GemmOp>(gemmOp);
  handlers.add<sp::CopyOp>(
      [](sp::CopyOp, Tensors &operands, Evaluator &) -> FailureOr<Tensors> {
        return operands;
      });
}
