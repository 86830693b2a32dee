//===- CudaScore.cpp - Score functions as C++ -----------------------------===//

#include "CUDA/CudaScore.h"

#include "CUDA/CudaWords.h"
#include "CUDA/ScoreSides.h"
#include "CUDA/ShortIntegers.h"

#include "sp/StableHLO/StableHLO.h"
#include "sprt/cuda/AttentionArguments.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::stablehlo;

namespace {

/// Writes one type: what it needs of a query row and of a key, which is
/// computed once for each, and a function of these for each result, a line an
/// operation.
class ScoreWriter {
public:
  explicit ScoreWriter(AttendOp op)
      : op(op), score(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                    op, op.getScoreAttr())),
        number(elementOf(op.getQuery()).isF64() ? "double" : "float"),
        isNarrow(elementOf(op.getQuery()).getIntOrFloatBitWidth() == 16),
        sides(op, score), os(text) {}

  FailureOr<std::string> run();

private:
  /// A member of Query or Key.
  struct Member {
    std::string type, name, value;
    bool isForPairs = false; ///< where an element of a pair lies
  };

  LogicalResult refuse(Operation *at) {
    return at->emitError("expected an operation that score functions on GPUs "
                         "have but got '")
           << at->getName() << "' on these types; leave --target out";
  }
  static Type elementOf(Value value) {
    return getElementTypeOrSelf(value.getType());
  }
  std::string name(Value value) const { return names.lookup(value); }
  std::string numberOf(Value value) const;
  std::string nameFor(Operation &user, Value operand) const;
  bool isLight();
  LogicalResult nameArguments();
  LogicalResult writeSide(Side side);
  LogicalResult writeFunction(StringRef function, Value result);
  LogicalResult writeNeeded(ArrayRef<Value> results, ArrayRef<Side> of);
  void writePairs(const SetVector<Operation *> &needed, Value result);
  LogicalResult write(Operation &operation);
  LogicalResult writeConstant(ConstantOp constant);
  LogicalResult writeLookUp(DynamicSliceOp slice);
  LogicalResult define(Value value, const std::string &expression);

  AttendOp op;
  func::FuncOp score;
  std::string number; ///< C++ type of the score
  bool isNarrow;      ///< elements have 16 bits
  DenseMap<Value, std::string> names;
  const ScoreSides sides;
  /// Integers of 64 bits whose values 32 bits hold, and which are computed in
  /// as many: differences of positions, above all.
  ShortIntegers shortened;
  SmallVector<Member> ofQuery, ofKey; ///< that are read
  std::string text;
  llvm::raw_string_ostream os;
};

/// The C++ type that a value has here.
std::string ScoreWriter::numberOf(Value value) const {
  return shortened.contains(value) ? "int32_t"
                                   : cppType(elementOf(value))->number;
}

/// As many bits as the operation wants.
std::string ScoreWriter::nameFor(Operation &user, Value operand) const {
  if (!shortened.contains(operand) || shortened.takesShort(&user))
    return name(operand);
  return "static_cast<" + cppType(elementOf(operand))->number + ">(" +
         name(operand) + ")";
}

LogicalResult ScoreWriter::define(Value value, const std::string &expression) {
  std::optional<CppType> type = cppType(elementOf(value));
  if (!type)
    return refuse(value.getDefiningOp() ? value.getDefiningOp() : score);
  std::string &own = names[value];
  own = "v" + std::to_string(names.size());
  os << "    const " << numberOf(value) << " " << own << " = ";
  if (type->isRounded)
    os << "rounded<" << type->storage << ">(" << expression << ");\n";
  else
    os << expression << ";\n";
  return success();
}

/// What each argument is called, and whose it is. Elements of a pair are read
/// by the functions, from where the row's begin.
LogicalResult ScoreWriter::nameArguments() {
  ArrayRef<TermKind> kinds = op.getTermKinds().getKinds();
  auto add = [&](BlockArgument argument, SmallVector<Member> &to,
                 StringRef owner, Member member) {
    names[argument] = (owner + "." + member.name).str();
    to.push_back(std::move(member));
  };
  ArrayRef<BlockArgument> arguments = score.getArguments();
  names[arguments[0]] = "x";
  if (!arguments[1].use_empty())
    add(arguments[1], ofQuery, "query", {"int32_t", "head", "at.globalHead"});
  if (!arguments[2].use_empty())
    add(arguments[2], ofQuery, "query",
        {"int32_t", "position",
         "load<int32_t, int32_t>(arguments.queryPositions, at.row)"});
  // Values of keys lie with the local rows; pairs know whole sequences.
  auto [firstPair, pairs] = findKind(kinds, TermKind::Pair);
  bool hasPairs = llvm::any_of(
      arguments.slice(4 + firstPair, pairs),
      [](BlockArgument argument) { return !argument.use_empty(); });
  if (hasPairs || !arguments[3].use_empty())
    add(arguments[3], ofKey, "key",
        {"int32_t", "position",
         "load<int32_t, int32_t>(arguments.keyPositions, row)", hasPairs});
  for (auto [term, argument] : llvm::enumerate(arguments.drop_front(4))) {
    std::string place = "arguments.terms[" + std::to_string(term) + "]";
    if (kinds[term] == TermKind::Table) {
      names[argument] = place + ".data";
      continue;
    }
    if (argument.use_empty())
      continue;
    std::optional<CppType> type = cppType(elementOf(argument));
    if (!type)
      return refuse(score);
    bool isOfKey = kinds[term] == TermKind::PerKey;
    std::string own = "t" + std::to_string(term),
                at = isOfKey ? ", batch, row)" : ", at)";
    if (kinds[term] == TermKind::Pair)
      add(argument, ofQuery, "query",
          {"const " + type->storage + " *", own,
           "begin<" + type->storage + ">(" + place + at, true});
    else
      add(argument, isOfKey ? ofKey : ofQuery, isOfKey ? "key" : "query",
          {type->number, own,
           "load<" + type->number + ", " + type->storage + ">(" + place +
               ".data, place(" + place + at + ")"});
  }
  return success();
}

/// The type Query or Key, and the function that makes one.
LogicalResult ScoreWriter::writeSide(Side side) {
  bool isQuery = side == Side::Query;
  ArrayRef<Member> read = isQuery ? ofQuery : ofKey;
  SmallVector<Value> members;
  for (BlockArgument argument : score.getArguments())
    if (sides.isMember(argument, side))
      members.push_back(argument);
  for (Operation &operation : score.getBody().front().without_terminator())
    llvm::copy_if(operation.getResults(), std::back_inserter(members),
                  [&](Value result) { return sides.isMember(result, side); });
  DenseMap<Value, std::string> outside = names;
  StringRef type = isQuery ? "Query" : "Key";
  std::string parts, values;
  // Who reads pairs asks for these whatever the function uses.
  for (const Member &member : read)
    if (member.isForPairs) {
      parts += "\n    " + member.type + " " + member.name + ";";
      values += (values.empty() ? "" : ", ") + member.name;
    }
  std::string head = text;
  text.clear();
  for (const Member &member : read)
    os << "    " << (StringRef(member.type).ends_with("*") ? "" : "const ")
       << member.type << " " << member.name << " = " << member.value << ";\n";
  for (Value argument : score.getArguments())
    if (sides.of(argument) == side)
      names[argument] = StringRef(name(argument)).split('.').second.str();
  if (failed(writeNeeded(members, {side, Side::Neither})))
    return failure();
  for (auto [number, member] : llvm::enumerate(members)) {
    std::string own = "m" + std::to_string(number);
    if (!cppType(elementOf(member)))
      return refuse(score);
    parts += "\n    " + numberOf(member) + " " + own + ";";
    values += (values.empty() ? "" : ", ") + name(member);
    outside[member] = (isQuery ? "query." : "key.") + own;
  }
  names = std::move(outside);
  std::string body = std::move(text);
  text = std::move(head);
  os << "\n  struct " << type << " {" << parts
     << (parts.empty() ? "};\n" : "\n  };\n") << "  SPRT_DEVICE static " << type
     << " " << (isQuery ? "query" : "key")
     << "(const sprt::cuda::ScoreArguments &arguments,\n      "
     << (isQuery ? "const sprt::cuda::ScoreRow &at" : "int batch, int row")
     << ") {\n    using namespace sprt;\n"
        "    using namespace sprt::cuda::score;\n"
     << body << "    return {" << values << "};\n  }\n";
  return success();
}

/// The operations that these results need and that depend on no other side.
LogicalResult ScoreWriter::writeNeeded(ArrayRef<Value> results,
                                       ArrayRef<Side> of) {
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  auto isOf = [&](Operation *operation) {
    return llvm::is_contained(of, sides.of(operation->getResult(0)));
  };
  options.filter = isOf;
  for (Value result : results)
    if (result.getDefiningOp() && isOf(result.getDefiningOp()) &&
        failed(getBackwardSlice(result, &needed, options)))
      return failure();
  if (llvm::is_contained(of, Side::Pair))
    for (Value result : results)
      writePairs(needed, result);
  for (Operation &operation : score.getBody().front().without_terminator())
    if (needed.contains(&operation) && failed(write(operation)))
      return failure();
  return success();
}

/// The elements of pairs that these operations, or the result itself, use.
void ScoreWriter::writePairs(const SetVector<Operation *> &needed,
                             Value result) {
  auto [first, pairs] = findKind(op.getTermKinds().getKinds(), TermKind::Pair);
  for (size_t term = first; term < first + pairs; ++term) {
    BlockArgument argument = score.getArgument(4 + term);
    if (argument != result &&
        llvm::none_of(argument.getUsers(),
                      [&](Operation *user) { return needed.contains(user); }))
      continue;
    CppType type = *cppType(elementOf(argument));
    std::string row = name(argument), own = "t" + std::to_string(term);
    os << "    const " << type.number << " " << own << " = load<" << type.number
       << ", " << type.storage << ">(" << row
       << ", key.position * arguments.terms[" << term << "].strides[3]);\n";
    names[argument] = own;
  }
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
  return define(constant, "static_cast<" + numberOf(constant) + ">(0x" +
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
                  nameFor(operation, compare.getLhs()) + " " +
                      comparison(compare.getComparisonDirection()).str() + " " +
                      nameFor(operation, compare.getRhs()));
  if (isa<ConvertOp, BitcastConvertOp>(operation)) {
    bool isCast = isa<BitcastConvertOp>(operation);
    if (isCast && (type->isRounded ||
                   cppType(elementOf(operation.getOperand(0)))->isRounded))
      return refuse(&operation);
    return define(result,
                  (isCast ? "bitcast<" : "convert<") + numberOf(result) + ">(" +
                      nameFor(operation, operation.getOperand(0)) + ")");
  }
  StringRef word = wordOf(&operation);
  if (StringRef quick = quickWordOf(&operation); isNarrow && !quick.empty())
    word = quick;
  bool isIntegerPower =
      isa<PowOp>(operation) && !isa<FloatType>(elementOf(result));
  if (word.empty() || isIntegerPower)
    return refuse(&operation);
  std::string expression = word.str() + "(";
  for (auto [number, operand] : llvm::enumerate(operation.getOperands()))
    expression += (number ? ", " : "") + nameFor(operation, operand);
  return define(result, expression + ")");
}

/// Of what a result needs; no other operation is asked for.
LogicalResult ScoreWriter::writeFunction(StringRef function, Value result) {
  os << "\n  SPRT_DEVICE static " << number << " " << function
     << "(const sprt::cuda::ScoreArguments &arguments,\n      const Query "
        "&query, const Key &key, "
     << number
     << " x) {\n    using namespace sprt;\n"
        "    using namespace sprt::cuda::score;\n";
  DenseMap<Value, std::string> arguments = names;
  if (failed(writeNeeded(result, {Side::Pair, Side::Neither})))
    return failure();
  os << "    return " << name(result) << ";\n  }\n";
  names = std::move(arguments);
  return success();
}

/// Longer functions, and loads for each pair, spill registers.
bool ScoreWriter::isLight() {
  constexpr int64_t kMostOperations = 8;
  return op.getTermsOf(TermKind::Pair).empty() &&
         op.getTermsOf(TermKind::Table).empty() &&
         llvm::count_if(score.getBody().front().without_terminator(),
                        [&](Operation &operation) {
                          return sides.of(operation.getResult(0)) == Side::Pair;
                        }) <= kMostOperations;
}

FailureOr<std::string> ScoreWriter::run() {
  size_t terms = score.getNumArguments() - 4;
  constexpr size_t kMost = ::sprt::cuda::ScoreArguments::kMostTerms;
  if (terms > kMost) {
    op.emitOpError() << "expected at most " << kMost
                     << " terms of a score function on GPUs but got " << terms;
    return failure();
  }
  OperandRange results = score.getBody().front().getTerminator()->getOperands();
  bool hasFactor = results.size() == 2;
  if (failed(nameArguments()))
    return failure();
  for (int position : {1, 2, 3})
    shortened.setRange(score.getArgument(position), 0, INT32_MAX);
  for (Operation &operation : score.getBody().front().without_terminator())
    shortened.visit(&operation);
  os << "struct Score {\n  static constexpr bool kIsNone = false, kIsLight = "
     << (isLight() ? "true" : "false")
     << ", kHasFactor = " << (hasFactor ? "true" : "false") << ";\n";
  if (failed(writeSide(Side::Query)) || failed(writeSide(Side::Key)))
    return failure();
  if (failed(writeFunction("apply", results[0])))
    return failure();
  if (hasFactor && failed(writeFunction("factor", results[1])))
    return failure();
  os << "};\n";
  return text;
}

} // namespace

FailureOr<std::string> mlir::sp::cudaScore(AttendOp op) {
  return ScoreWriter(op).run();
}
