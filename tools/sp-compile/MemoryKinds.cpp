//===- MemoryKinds.cpp - What values in a rank's memory are for -----------===//

#include "MemoryKinds.h"

#include "sp/IR/Program.h"
#include "sp/IR/SourceLines.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

struct KindText {
  StringLiteral word, name, colour;
};

} // namespace

/// By number.
static constexpr KindText kTexts[] = {
    {"constants", "constants", "#8c8c8c"},
    {"parameters", "parameters", "#4c6a92"},
    {"state", "optimizer state", "#8fb3dc"},
    {"caches", "caches", "#6b8e23"},
    {"inputs", "inputs and results", "#b8860b"},
    {"communication", "communication buffers", "#d9594c"},
    {"sums", "gradients and other sums over ranks", "#a5524a"},
    {"attention", "attention", "#4fa88f"},
    {"kept", "activations kept for gradients", "#f0a830"},
    {"activations", "other activations and gradients", "#cdb4db"},
    {"scratch", "scratch memory of kernels", "#3d3d3d"}};
static_assert(std::size(kTexts) == kMemoryKinds);

StringRef mlir::sp::nameOf(MemoryKind kind) {
  return kTexts[size_t(kind)].name;
}
StringRef mlir::sp::wordOf(MemoryKind kind) {
  return kTexts[size_t(kind)].word;
}
StringRef mlir::sp::colourOf(MemoryKind kind) {
  return kTexts[size_t(kind)].colour;
}

std::string mlir::sp::shortSourceLine(Location location) {
  std::string line = describeSourceLine(location);
  return StringRef(line).rsplit('/').second.empty()
             ? line
             : StringRef(line).rsplit('/').second.str();
}

MemoryKinds::MemoryKinds(func::FuncOp placed, const LivePlaces &places,
                         ArrayRef<NotedArgument> arguments)
    : func(placed), arguments(arguments) {
  Operation *end = func.getBody().front().getTerminator();
  for (Value result : end->getOperands())
    returned[result] = MemoryKind::InputsAndResults;
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (std::optional<unsigned> result = donatedTo(func, number))
      returned[end->getOperand(*result)] = ofArgument(number);
  }
  func.walk([&](AttendBackwardOp op) {
    int64_t point = places.pointOf(op);
    turn = turn < 0 ? point : std::min(turn, point);
  });
}

MemoryKind MemoryKinds::ofArgument(unsigned number) const {
  if (number < arguments.size())
    switch (arguments[number].role) {
    case ArgumentRole::Parameter:
      return MemoryKind::Parameters;
    case ArgumentRole::State:
      return MemoryKind::State;
    case ArgumentRole::Cache:
      return MemoryKind::Caches;
    case ArgumentRole::Small:
    case ArgumentRole::Data:
      break;
    }
  return MemoryKind::InputsAndResults;
}

static bool isOfAttention(Operation *op) {
  return isa_and_present<AttendOp, AttendBackwardOp>(op);
}

static bool isSum(Operation *op) {
  return isa<AllReduceStartOp, ReduceScatterStartOp>(op);
}

/// Whether the value is what other ranks have sent, in a place of its own.
static bool isReceived(Value value) {
  auto start = value.getDefiningOp<CommunicationOpInterface>();
  return start && start.getStream() != Stream::In &&
         start.getStream() != Stream::Out;
}

MemoryKind MemoryKinds::of(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner()->getParentOp() == func)
    return ofArgument(argument.getArgNumber());
  if (auto known = returned.find(value); known != returned.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (llvm::any_of(value.getUsers(), isSum))
    return MemoryKind::Sums;
  if (isOfAttention(op) || llvm::any_of(value.getUsers(), isOfAttention))
    return MemoryKind::Attention;
  return MemoryKind::Others;
}

MemoryKind MemoryKinds::of(const LivePlace &place) const {
  if (place.space == Space::Constants)
    return MemoryKind::Constants;
  MemoryKind kind = isReceived(place.values.front()) ? MemoryKind::Communication
                                                     : MemoryKind::Others;
  for (Value value : place.values)
    kind = std::min(kind, of(value));
  bool isKept =
      kind == MemoryKind::Others && place.first < turn && turn < place.last;
  return isKept ? MemoryKind::Kept : kind;
}

std::string MemoryKinds::nameOf(const LivePlace &place) const {
  Value value = place.values.front();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner()->getParentOp() == func) {
    unsigned number = argument.getArgNumber();
    return number < arguments.size() ? arguments[number].name
                                     : "arg" + std::to_string(number);
  }
  // What makes the first rows of a stack, which begins empty.
  for (Value each : place.values)
    if (Operation *made = each.getDefiningOp();
        made && !isa<EmptyOp, stablehlo::ReshapeOp>(made)) {
      value = each;
      break;
    }
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  StringRef word = op->getName().stripDialect();
  word.consume_back("_start");
  std::string name = word.str();
  if (auto attend = dyn_cast<AttendOp>(op); attend && !attend.getName().empty())
    name = attend.getName().str();
  if (auto attend = dyn_cast<AttendBackwardOp>(op);
      attend && !attend.getName().empty())
    name = "gradients of " + attend.getName().str();
  if (auto launch = dyn_cast<LaunchOp>(op))
    name = launch.getKernel().str();
  std::string line = shortSourceLine(op->getLoc());
  return line.empty() ? name : name + " (" + line + ")";
}
