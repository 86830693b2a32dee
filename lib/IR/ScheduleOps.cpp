//===- ScheduleOps.cpp - Verification of commands, stacks, far memory -----===//

#include "sp/IR/Attributes.h"
#include "sp/IR/SP.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sp;

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  // (C1)
  if (!kernel)
    return emitOpError() << "expected a function called '" << getKernel()
                         << "'";
  auto type =
      FunctionType::get(getContext(), getOperandTypes(), getResultTypes());
  if (kernel.getFunctionType() != type)
    return emitOpError() << "expected kernel '" << getKernel() << "' of type "
                         << type << " but got " << kernel.getFunctionType();
  // (C2)
  std::optional<uint64_t> onto = getOnto();
  if (onto && (getNumResults() != 1 || *onto >= getNumOperands() ||
               getOperand(*onto).getType() != getResult(0).getType()))
    return emitOpError() << "expected one result, of the type of operand "
                         << *onto << ", onto which it is written";
  for (unsigned number = 0; number < kernel.getNumArguments(); ++number)
    if ((onto == number) != bool(kernel.getArgAttr(number, kOnto)))
      return emitOpError() << "expected kernel '" << getKernel()
                           << "' to be written onto the same operand";
  return success();
}

static LogicalResult verifyOnto(GemmOp op, RankedTensorType result) {
  // (C4)
  if (!op.getOnto() ||
      (op.getOnto().getType() == result && result.getElementType().isF32() &&
       !op.getBias() && op.getActivation() == Activation::None))
    return success();
  return op.emitOpError() << "expected to add to a " << result
                          << " of f32, without bias and activation, but got "
                          << op.getOnto().getType();
}

LogicalResult GemmOp::verify() {
  ArrayRef<int64_t> sizes = getSizes();
  // (C1)
  if (sizes.size() != 4 || getLhsStrides().size() != 3 ||
      getRhsStrides().size() != 3)
    return emitOpError() << "expected sizes [b, m, n, k] and strides [b, m, k] "
                            "and [b, k, n]";
  // (C2)
  auto result = cast<RankedTensorType>(getType());
  std::optional<int64_t> elements = 1;
  for (int64_t size : sizes.drop_back())
    if (int64_t product = 0;
        elements && size >= 0 && !llvm::MulOverflow(*elements, size, product))
      elements = product;
    else
      elements = std::nullopt;
  if (!elements || result.getNumElements() != *elements)
    return emitOpError() << "expected a result of " << sizes[0] << " x "
                         << sizes[1] << " x " << sizes[2]
                         << " elements but got " << result;
  // (C3)
  if (!getBias())
    return verifyOnto(*this, result);
  auto bias = cast<RankedTensorType>(getBias().getType());
  if (!bias.hasStaticShape() || bias.getNumElements() != sizes[2] ||
      bias.getElementType() != result.getElementType())
    return emitOpError() << "expected a bias of " << sizes[2] << " elements of "
                         << result.getElementType() << " but got " << bias;
  return verifyOnto(*this, result);
}

/// Whether Memory can say where such rows lie.
static bool isOfCounters(Value index) {
  if (auto counter = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == counter;
  }
  Operation *op = index.getDefiningOp();
  return isa<arith::ConstantIndexOp>(op) ||
         (isa<affine::AffineApplyOp>(op) &&
          llvm::all_of(op->getOperands(), isOfCounters));
}

/// Whether `part` is dense rows of `whole`.
template <typename OpT>
static LogicalResult verifyRows(OpT op, RankedTensorType part) {
  auto whole = cast<RankedTensorType>(op.getWhole().getType());
  int64_t dim = op.getDim();
  // (C1)
  auto isRows = [&]() {
    if (dim >= whole.getRank() || part.getRank() != whole.getRank() ||
        part.getDimSize(dim) > whole.getDimSize(dim))
      return false;
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] = part.getDimSize(dim);
    return part == whole.clone(shape);
  };
  if (!isRows())
    return op.emitOpError() << "expected rows of dimension " << dim << " of "
                            << whole << " but got " << part;
  // (C2)
  if (llvm::any_of(whole.getShape().take_front(dim),
                   [](int64_t size) { return size != 1; }))
    return op.emitOpError() << "expected dimensions of 1 before dimension "
                            << dim << " but got " << whole;
  // (C3)
  if (!isOfCounters(op.getAt()))
    return op.emitOpError() << "expected rows at a constant or an affine "
                               "function of counters of loops around it";
  return success();
}

bool mlir::sp::isFar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_present<FarAttr>(tensor.getEncoding());
}

RankedTensorType mlir::sp::toFar(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               FarAttr::get(type.getContext()));
}

/// Whether `far` is `near` in far memory.
static LogicalResult verifyFar(Operation *op, Type near, Type far) {
  // (C1)
  if (!isFar(near) && far == toFar(cast<RankedTensorType>(near)))
    return success();
  return op->emitOpError() << "expected a value and the same one in far "
                              "memory, #sp.far, but got "
                           << op->getOperand(0).getType() << " and "
                           << op->getResult(0).getType();
}

LogicalResult EvictStartOp::verify() {
  return verifyFar(*this, getInput().getType(), getResult().getType());
}
LogicalResult FetchStartOp::verify() {
  return verifyFar(*this, getResult().getType(), getInput().getType());
}

/// Whether `part` is rows of a stack that is far.
template <typename OpT>
static LogicalResult verifyFarRows(OpT op, RankedTensorType part) {
  RankedTensorType whole = op.getWhole().getType();
  if (isFar(whole) && !isFar(part))
    return verifyRows(op, toFar(part));
  return op.emitOpError() << "expected rows of a stack in far memory, #sp.far, "
                             "but got "
                          << part << " and " << whole;
}

LogicalResult EvictRowsStartOp::verify() {
  return verifyFarRows(*this, getBlock().getType());
}
LogicalResult FetchRowsStartOp::verify() {
  return verifyFarRows(*this, getResult().getType());
}

LogicalResult TakeOp::verify() { return verifyRows(*this, getType()); }
LogicalResult PutOp::verify() {
  return verifyRows(*this, getBlock().getType());
}
