//===- CudaScore.cpp - Score functions as C++ -----------------------------===//

#include "CudaScore.h"

#include "sp/StableHLO/StableHLO.h"
#include "sprt/cuda/AttentionArguments.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

namespace {

/// An element type in C++: what memory holds, and what is computed with.
struct CppType {
  std::string storage, number;
  bool isRounded = false; ///< after each operation
};

std::optional<CppType> cppType(Type type) {
  if (type.isBF16())
    return CppType{"sprt::ptx::BFloat16", "float", true};
  if (type.isF16())
    return CppType{"sprt::ptx::Half", "float", true};
  if (type.isF32())
    return CppType{"float", "float"};
  if (type.isF64())
    return CppType{"double", "double"};
  if (type.isInteger(1))
    return CppType{"uint8_t", "bool"};
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
    return std::nullopt;
  std::string name = (integer.isUnsigned() ? "uint" : "int") +
                     std::to_string(integer.getWidth()) + "_t";
  return CppType{name, name};
}

/// What an operation on numbers is called in ScoreMath.cuh; empty where it has
/// no name.
StringRef wordOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](AddOp) { return "add"; })
      .Case([](SubtractOp) { return "subtract"; })
      .Case([](MulOp) { return "multiply"; })
      .Case([](DivOp) { return "divide"; })
      .Case([](RemOp) { return "remainder"; })
      .Case([](MaxOp) { return "maximum"; })
      .Case([](MinOp) { return "minimum"; })
      .Case([](ClampOp) { return "clamp"; })
      .Case([](SelectOp) { return "select"; })
      .Case([](AndOp) { return "bitAnd"; })
      .Case([](OrOp) { return "bitOr"; })
      .Case([](XorOp) { return "bitXor"; })
      .Case([](NotOp) { return "bitNot"; })
      .Case([](ShiftLeftOp) { return "shiftLeft"; })
      .Case([](ShiftRightLogicalOp) { return "shiftRightLogical"; })
      .Case([](ShiftRightArithmeticOp) { return "shiftRightArithmetic"; })
      .Case([](NegOp) { return "negate"; })
      .Case([](AbsOp) { return "absolute"; })
      .Case([](SignOp) { return "sign"; })
      .Case([](ExpOp) { return "exp"; })
      .Case([](Expm1Op) { return "expm1"; })
      .Case([](LogOp) { return "log"; })
      .Case([](Log1pOp) { return "log1p"; })
      .Case([](TanhOp) { return "tanh"; })
      .Case([](LogisticOp) { return "logistic"; })
      .Case([](SqrtOp) { return "sqrt"; })
      .Case([](RsqrtOp) { return "rsqrt"; })
      .Case([](CbrtOp) { return "cbrt"; })
      .Case([](PowOp) { return "power"; })
      .Case([](SineOp) { return "sine"; })
      .Case([](CosineOp) { return "cosine"; })
      .Case([](TanOp) { return "tangent"; })
      .Case([](Atan2Op) { return "atan2"; })
      .Case([](chlo::ErfOp) { return "erf"; })
      .Case([](FloorOp) { return "floor"; })
      .Case([](CeilOp) { return "ceil"; })
      .Case([](RoundOp) { return "round"; })
      .Case([](RoundNearestEvenOp) { return "roundEven"; })
      .Case([](IsFiniteOp) { return "isFinite"; })
      .Default([](Operation *) { return StringRef(); });
}

StringRef comparison(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return "==";
  case ComparisonDirection::NE:
    return "!=";
  case ComparisonDirection::LT:
    return "<";
  case ComparisonDirection::LE:
    return "<=";
  case ComparisonDirection::GT:
    return ">";
  case ComparisonDirection::GE:
    return ">=";
  }
  llvm_unreachable("every direction has a sign");
}

/// Writes one function, a line an operation.
class ScoreWriter {
public:
  explicit ScoreWriter(AttendOp op)
      : op(op), score(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                    op, op.getScoreAttr())),
        os(text) {}

  FailureOr<std::string> run();

private:
  LogicalResult refuse(Operation *at) {
    return at->emitError("expected an operation that score functions on GPUs "
                         "have but got '")
           << at->getName() << "' on these types; leave --target out";
  }
  static Type elementOf(Value value) {
    return getElementTypeOrSelf(value.getType());
  }
  std::string name(Value value) const { return names.lookup(value); }
  LogicalResult writeArguments();
  LogicalResult write(Operation &operation);
  LogicalResult writeConstant(ConstantOp constant);
  LogicalResult writeLookUp(DynamicSliceOp slice);
  LogicalResult define(Value value, const std::string &expression);

  AttendOp op;
  func::FuncOp score;
  DenseMap<Value, std::string> names;
  std::string text;
  llvm::raw_string_ostream os;
};

LogicalResult ScoreWriter::define(Value value, const std::string &expression) {
  std::optional<CppType> type = cppType(elementOf(value));
  if (!type)
    return refuse(value.getDefiningOp() ? value.getDefiningOp() : score);
  std::string &own = names[value];
  own = "v" + std::to_string(names.size());
  os << "    const " << type->number << " " << own << " = ";
  if (type->isRounded)
    os << "rounded<" << type->storage << ">(" << expression << ");\n";
  else
    os << expression << ";\n";
  return success();
}

LogicalResult ScoreWriter::writeArguments() {
  size_t perQuery = op.getPerQuery().size(), perKey = op.getPerKey().size();
  size_t elements =
      perQuery + perKey + op.getPerHead().size() + op.getPair().size();
  static constexpr const char *kFixed[] = {
      "x", "at.globalHead", "at.queryPosition", "at.keyPosition"};
  for (BlockArgument argument : score.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (number < 4) {
      names[argument] = kFixed[number];
      continue;
    }
    unsigned term = number - 4;
    std::string place = "arguments.terms[" + std::to_string(term) + "]";
    if (term >= elements) {
      names[argument] = place + ".data";
      continue;
    }
    if (argument.use_empty())
      continue;
    std::optional<CppType> type = cppType(elementOf(argument));
    if (!type)
      return refuse(score);
    // Values of keys lie with the local rows; pairs know whole sequences.
    bool isPerKey = term >= perQuery && term < perQuery + perKey;
    names[argument] = "t" + std::to_string(term);
    os << "    const " << type->number << " t" << term << " = load<"
       << type->number << ", " << type->storage << ">(" << place << ", at, at."
       << (isPerKey ? "key" : "keyPosition") << ");\n";
  }
  return success();
}

LogicalResult ScoreWriter::writeConstant(ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || dense.getNumElements() != 1)
    return refuse(constant);
  Type type = elementOf(constant);
  if (isa<FloatType>(type)) {
    APFloat value = *dense.value_begin<APFloat>();
    if (value.isNaN())
      return define(constant, "ptx::infinity() - ptx::infinity()");
    if (value.isInfinity())
      return define(constant, value.isNegative() ? "-ptx::infinity()"
                                                 : "ptx::infinity()");
    bool losesInfo = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    char digits[64];
    std::snprintf(digits, sizeof digits, "%a", value.convertToDouble());
    return define(constant, std::string("static_cast<") +
                                cppType(type)->number + ">(" + digits + ")");
  }
  if (type.isInteger(1))
    return define(constant, *dense.value_begin<bool>() ? "true" : "false");
  if (!cppType(type))
    return refuse(constant);
  SmallString<32> digits;
  (*dense.value_begin<APInt>()).toString(digits, 16, /*Signed=*/false);
  return define(constant, "static_cast<" + cppType(type)->number + ">(0x" +
                              std::string(digits) + "u)");
}

/// One element of a table, its indices brought into bounds.
LogicalResult ScoreWriter::writeLookUp(DynamicSliceOp slice) {
  auto table = cast<RankedTensorType>(slice.getOperand().getType());
  std::optional<CppType> type = cppType(table.getElementType());
  if (!type || cast<RankedTensorType>(slice.getType()).getNumElements() != 1)
    return refuse(slice);
  std::string index = "0";
  for (auto [dim, start] : llvm::enumerate(slice.getStartIndices()))
    index = "(" + index + ") * " + std::to_string(table.getDimSize(dim)) +
            " + clamp<int64_t>(0, " + name(start) + ", " +
            std::to_string(table.getDimSize(dim) - 1) + ")";
  return define(slice, "load<" + type->number + ", " + type->storage + ">(" +
                           name(slice.getOperand()) + ", " + index + ")");
}

LogicalResult ScoreWriter::write(Operation &operation) {
  Value result = operation.getResult(0);
  std::optional<CppType> type = cppType(elementOf(result));
  if (!type)
    return refuse(&operation);
  if (auto constant = dyn_cast<ConstantOp>(operation))
    return writeConstant(constant);
  if (auto slice = dyn_cast<DynamicSliceOp>(operation))
    return writeLookUp(slice);
  if (isa<ReshapeOp>(operation)) {
    names[result] = name(operation.getOperand(0));
    return success();
  }
  if (auto compare = dyn_cast<CompareOp>(operation))
    return define(result,
                  name(compare.getLhs()) + " " +
                      comparison(compare.getComparisonDirection()).str() + " " +
                      name(compare.getRhs()));
  if (isa<ConvertOp, BitcastConvertOp>(operation)) {
    bool isCast = isa<BitcastConvertOp>(operation);
    if (isCast && (type->isRounded ||
                   cppType(elementOf(operation.getOperand(0)))->isRounded))
      return refuse(&operation);
    return define(result, (isCast ? "bitcast<" : "convert<") + type->number +
                              ">(" + name(operation.getOperand(0)) + ")");
  }
  StringRef word = wordOf(&operation);
  bool isIntegerPower =
      isa<PowOp>(operation) && !isa<FloatType>(elementOf(result));
  if (word.empty() || isIntegerPower)
    return refuse(&operation);
  std::string expression = word.str() + "(";
  for (auto [number, operand] : llvm::enumerate(operation.getOperands()))
    expression += (number ? ", " : "") + name(operand);
  return define(result, expression + ")");
}

FailureOr<std::string> ScoreWriter::run() {
  size_t terms = score.getNumArguments() - 4;
  constexpr size_t kMost = ::sprt::cuda::PlainArguments::kMostTerms;
  if (terms > kMost) {
    op.emitOpError() << "expected at most " << kMost
                     << " terms of a score function on GPUs but got " << terms;
    return failure();
  }
  std::string number =
      op.getQuery().getType().getElementType().isF64() ? "double" : "float";
  os << "struct Score {\n  static constexpr bool kIsNone = false;\n"
        "  SPRT_DEVICE static "
     << number
     << " apply(const sprt::cuda::PlainArguments &arguments,\n"
        "                            const sprt::cuda::ScorePair &at, "
     << number << " x,\n                            " << number
     << " &factor) {\n    using namespace sprt;\n"
        "    using namespace sprt::cuda::score;\n";
  if (failed(writeArguments()))
    return failure();
  Block &body = score.getBody().front();
  for (Operation &operation : body.without_terminator())
    if (failed(write(operation)))
      return failure();
  Operation *end = body.getTerminator();
  if (end->getNumOperands() == 2)
    os << "    factor = " << name(end->getOperand(1)) << ";\n";
  os << "    return " << name(end->getOperand(0)) << ";\n  }\n};\n";
  return text;
}

} // namespace

FailureOr<std::string> mlir::sp::cudaScore(AttendOp op) {
  return ScoreWriter(op).run();
}
