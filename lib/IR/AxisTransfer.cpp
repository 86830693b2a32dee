//===- AxisTransfer.cpp - Types along axes, operation by operation --------===//
//
// Dealt rows go where the factors of an operation take them. A factor that is
// reduced leaves parts; a dimension of no factor is read whole, so that what is
// made of rows of it differs from rank to rank.
//
//===----------------------------------------------------------------------===//

#include "AxisTransfer.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

static uint64_t allDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? (uint64_t(1) << tensor.getRank()) - 1 : 0;
}

/// Whether an attention adds to an operand, which `goOn` looks at.
static bool isGoneOnWith(Operation *op, unsigned number) {
  if (!isa<ScoredOpInterface>(op))
    return false;
  return llvm::any_of(continuedBy(op), [&](const Continued &continued) {
    return continued.operand->getOperandNumber() == number;
  });
}

SmallVector<AxisType> AxisTransfer::byFactors(Operation *op,
                                              ArrayRef<Factor> factors) {
  AxisSet varying = variesBy(op), parts = 0, counted = 0;
  Reduction kindOfParts = Reduction::Sum;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    const AxisType &type = known(operand);
    counted |= type.counted;
    if (isGoneOnWith(op, number))
      continue;
    if (type.partial)
      kindOfParts = type.kind;
    parts |= type.partial;
  }
  AxisSet kept = keptParts(op, parts);
  auto addsAlike = [&](const Factor &factor) {
    return factor.reduction && countsEachRank(*factor.reduction) &&
           isUniform(op, factor);
  };
  if (llvm::any_of(factors, addsAlike))
    counted = mesh.all();
  std::optional<Linearity> linearity = linearityOf(op);
  bool isZero = linearity && linearity->together &&
                llvm::all_of(linearity->data, [&](unsigned number) {
                  return operandType(op, number).isZero;
                });
  Types types;
  for (OpResult result : op->getResults()) {
    AxisType &type = types.emplace_back();
    if (isZero) {
      type.isZero = true;
      type.uniform = allDims(result.getType());
      continue;
    }
    Placed placed = place(op, factors, result.getResultNumber());
    if (countsEachRank(placed.kind))
      checkStarts(op, factors, placed.reduced);
    AxisSet unkept = parts & ~kept;
    for (const DealtRows &rows : placed.rows)
      if (!(mesh.of(rows.layout) & parts)) {
        type.dealt |= mesh.of(rows.layout);
        type.rows.push_back(rows);
      }
    bool agree = !kept || !placed.reduced || kindOfParts == placed.kind;
    type.kind = kept ? kindOfParts : placed.kind;
    type.partial = ((agree ? placed.reduced : 0) | kept) & ~type.dealt;
    type.varying = (varying | placed.lost | unkept | parts | placed.reduced) &
                   ~type.dealt & ~type.partial;
    type.counted = counted & ~type.unequal();
    for (const Factor &factor : factors)
      for (auto [number, dim] : factor.results)
        if (number == result.getResultNumber() && isUniform(op, factor))
          type.uniform |= uint64_t(1) << dim;
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

bool AxisTransfer::keepsParts(Operation *op,
                              const std::optional<Linearity> &linearity,
                              AxisSet axis) {
  std::string name = mesh.axisOf(axis).getText();
  auto of = [&](unsigned i) -> const AxisType & { return operandType(op, i); };
  Reduction kind = Reduction::Sum;
  unsigned part = 0;
  for (unsigned i = op->getNumOperands(); i-- > 0;)
    if ((of(i).partial & axis) && !isGoneOnWith(op, i)) {
      kind = of(i).kind;
      part = i;
    }
  auto isData = [&](unsigned i) {
    return linearity && llvm::is_contained(linearity->data, i);
  };
  auto refuse = [&](unsigned i, const Twine &message) {
    fail(op, op->getOperand(i), message);
    return false;
  };
  bool isSum = kind == Reduction::Sum;
  bool combines = !isSum && combinesBy(op, kind);
  if (!combines &&
      (!isData(part) || (!isSum && !(linearity->together && linearity->moves))))
    return refuse(part, "expected operand " + Twine(part) +
                            " to be whole along axis \"" + name + "\" but it " +
                            "is " + describe(of(part), axis, mesh) +
                            ", of which this makes no part; reduce it before");
  unsigned numParts = 0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    const AxisType &type = of(i);
    bool isPart = (type.partial & axis) != 0;
    numParts += isPart;
    bool isEqual = !(type.unequal() & axis);
    bool mustBePart = isData(i) && linearity->together && isSum;
    bool fits = isPart ? (isData(i) || combines) && type.kind == kind
                       : type.isZero || (type.counted & axis) ||
                             (isEqual && !mustBePart) ||
                             // What is not known may be a part as well.
                             (mustBePart && (type.varying & axis));
    if (fits)
      continue;
    std::string expected = isPart ? "whole"
                           : mustBePart || combines
                               ? "partial as operand " + std::to_string(part)
                               : "equal";
    std::string way =
        mustBePart && isEqual
            ? ": it would count " + std::to_string(mesh.ranksOf(axis)) +
                  " times; add it after the reduction"
            : "; reduce operand " + std::to_string(part) + " before";
    return refuse(i, "expected operand " + Twine(i) + " to be " + expected +
                         " along axis \"" + name + "\" but it is " +
                         describe(type, axis, mesh) + way);
  }
  if (!combines && !linearity->together && numParts > 1)
    return refuse(part, "expected one factor to be whole along axis \"" + name +
                            "\" but both are " +
                            describe(of(part), axis, mesh) +
                            "; reduce one before");
  return true;
}

AxisSet AxisTransfer::keptParts(Operation *op, AxisSet parts) {
  AxisSet kept = 0;
  std::optional<Linearity> linearity;
  if (parts)
    linearity = linearityOf(op);
  for (AxisSet left = parts; left; left &= left - 1) {
    AxisSet axis = left & -left;
    if (keepsParts(op, linearity, axis))
      kept |= axis;
  }
  return kept;
}

/// What a sum of dealt rows starts from counts on every rank.
void AxisTransfer::checkStarts(Operation *op, ArrayRef<Factor> factors,
                               AxisSet reduced) {
  std::optional<Linearity> linearity;
  if (reduced)
    linearity = linearityOf(op);
  if (!linearity || !linearity->together)
    return;
  auto isReduced = [&](unsigned operand) {
    return llvm::any_of(factors, [&](const Factor &factor) {
      return factor.reduction && llvm::any_of(factor.operands, [&](auto at) {
               return at.first == operand;
             });
    });
  };
  for (unsigned i : linearity->data) {
    const AxisType &type = operandType(op, i);
    AxisSet equal = reduced & ~type.unequal() & ~type.counted;
    if (!equal || type.isZero || isReduced(i))
      continue;
    fail(op, op->getOperand(i),
         "expected operand " + Twine(i) + " to be 0, as rows are added along " +
             "axis \"" + mesh.axisOf(equal).getText() + "\", but it is equal " +
             "on its ranks: it would count " + Twine(mesh.ranksOf(equal)) +
             " times; add it after the reduction");
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static bool isZero(DenseElementsAttr splat) {
  Type element = splat.getElementType();
  if (isa<FloatType>(element))
    return splat.getSplatValue<APFloat>().isZero();
  if (element.isIntOrIndex())
    return splat.getSplatValue<APInt>().isZero();
  auto number = dyn_cast<ComplexType>(element);
  if (!number || !isa<FloatType>(number.getElementType()))
    return false;
  std::complex<APFloat> value = splat.getSplatValue<std::complex<APFloat>>();
  return value.real().isZero() && value.imag().isZero();
}

static AxisType ofConstant(Value constant) {
  AxisType type;
  DenseElementsAttr value;
  if (!matchPattern(constant, m_Constant(&value)) || !value.isSplat())
    return type;
  type.uniform = allDims(constant.getType());
  type.isZero = isZero(value);
  return type;
}

SmallVector<AxisType> AxisTransfer::passOn(Operation *op) {
  Types types;
  for (Value operand : op->getOperands())
    types.push_back(known(operand));
  types.resize(op->getNumResults());
  return types;
}

SmallVector<AxisType> AxisTransfer::apply(Operation *op) {
  return llvm::TypeSwitch<Operation *, Types>(op)
      .Case([&](AllReduceOp op) { return ofAllReduce(op); })
      .Case([&](ReduceScatterOp op) { return ofReduceScatter(op); })
      .Case([&](AllGatherOp op) { return ofAllGather(op); })
      .Case([&](RedealOp op) {
        return Types{ofGathered(op, 0, op.getDim(), op.getFrom(), op.getTo())};
      })
      .Case([&](AllToAllOp op) { return Types{ofAllToAll(op)}; })
      .Case<ShiftOp, stablehlo::OptimizationBarrierOp>(
          [&](auto op) { return passOn(op); })
      .Case([&](PositionsOp op) {
        return Types{typeOfDims(dealtDim(op.getLayout()), mesh)};
      })
      .Case([&](RankOp op) { return Types{ofRank(op, mesh.of(op.getAxis()))}; })
      .Case<RowCountOp, GroupSizeOp, GroupSourceOp>(
          [&](auto op) { return Types{ofRank(op, mesh.of(op.getLayout()))}; })
      .Case([&](AttendOp op) { return ofAttend(op); })
      .Case([&](AttendBackwardOp op) { return ofAttendBackward(op); })
      .Case([&](stablehlo::ReshapeOp op) {
        Value operand = op.getOperand();
        return Types{reshaped(known(operand), shapeOf(operand), shapeOf(op),
                              mesh,
                              op->getAttrOfType<DictionaryAttr>(kOneRow))};
      })
      .Case([&](stablehlo::IotaOp) { return Types(1); })
      .Case([&](EmptyOp op) {
        AxisType nothing;
        nothing.isZero = true;
        nothing.uniform = allDims(op.getType());
        return Types{nothing};
      })
      .Default([&](Operation *op) {
        // An exchange that is not known here.
        if (isa<CommunicationOpInterface>(op)) {
          AxisType unknown;
          unknown.varying = mesh.all();
          return Types(op->getNumResults(), unknown);
        }
        if (op->hasTrait<OpTrait::ConstantLike>())
          return Types{ofConstant(op->getResult(0))};
        // Which rows indices pick of those that a rank has is not known.
        SmallVector<Factor> factors = getFactors(op);
        llvm::erase_if(factors, [](const Factor &factor) {
          return factor.pickedBy.has_value();
        });
        return byFactors(op, factors);
      });
}

std::string mlir::sp::describe(const AxisType &type, AxisSet axis,
                               const MeshFactors &mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  axis &= -axis;
  if (type.partial & axis)
    stream << "partial (" << stringifyReduction(type.kind) << ")";
  else if (type.varying & axis)
    stream << "varying";
  else if (!(type.dealt & axis))
    stream << "equal";
  for (const DealtRows &rows : type.rows)
    if (mesh.of(rows.layout) & axis) {
      stream << "dealt by dimension " << rows.dim << " as ";
      stream << Attribute(rows.layout);
      break;
    }
  return text;
}

void AxisTransfer::fail(Operation *op, Value operand, const Twine &message) {
  faulty = true;
  if (!reports)
    return;
  InFlightDiagnostic diagnostic = op->emitOpError() << message;
  diagnostic.attachNote(operand.getLoc()) << "the operand is made here";
}
