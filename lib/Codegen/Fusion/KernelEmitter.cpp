// The rows and the stages of a kernel, tried until they fit.

#include "Fusion/KernelEmitter.h"
#include "Scalar/ScalarApply.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <numeric>
#include <tuple>

namespace mlir::sp {

using namespace stablehlo;

/// Elements that a tile works on, about.
static constexpr int64_t kTileWork = 8192;
/// Rows with less work than this leave inner loops too short to be fast.
static constexpr int64_t kShortRow = 128;
/// Rows with more work than this leave little for other threads.
static constexpr int64_t kLongRow = 65536;
/// Fewer elements than this are no loop for a reduction to run along.
static constexpr int64_t kThinRow = 64;
/// Rows that become one where elements are transposed across them.
static constexpr int64_t kRowBlock = 16;

/// Whether kernels support `op`, as far as it can be told without context.
static bool isKernelOp(Operation *op) {
  auto supported = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           isSupportedElement(tensor.getElementType());
  };
  if (!llvm::all_of(op->getOperandTypes(), supported) ||
      !llvm::all_of(op->getResultTypes(), supported))
    return false;
  return hasScalarForm(op) || op->hasTrait<KernelStage>() ||
         isa<BitcastConvertOp, BroadcastInDimOp, BroadcastOp, ConcatenateOp,
             ConstantOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp,
             GetDimensionSizeOp, IotaOp, MapOp, OptimizationBarrierOp, PadOp,
             ReshapeOp, ReverseOp, SliceOp, TransposeOp>(op);
}

LogicalResult KernelEmitter::checkSupported() {
  LogicalResult result = success();
  source.walk([&](Operation *op) {
    if (op == source || op->hasTrait<OpTrait::IsTerminator>() || isKernelOp(op))
      return;
    result = op->emitError("expected an operation that kernels support "
                           "but got '")
             << op->getName() << "' on these types";
  });
  return result;
}

int64_t workOf(Operation *op) {
  int64_t work = 1;
  for (Value result : op->getResults())
    work = std::max(work, countOf(shapeOf(result)));
  if (!op->hasTrait<KernelStage>())
    return work;
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    auto numbers = dot.getDotDimensionNumbers();
    for (int64_t dim : numbers.getLhsContractingDimensions())
      work *= shapeOf(dot.getLhs())[dim];
    return work;
  }
  for (Value operand : op->getOperands())
    work = std::max(work, countOf(shapeOf(operand)));
  return work;
}

/// Row counts to try, best first: multiples of a count that failed would fail
/// too.
std::vector<int64_t> KernelEmitter::rowCandidates() {
  SmallVector<Value> fixed(
      source.getBody().front().getTerminator()->getOperands());
  int64_t work = 1;
  SmallVector<int64_t> alongResult; ///< elements that loops run along
  for (Operation &op : source.getBody().front()) {
    if (!op.hasTrait<KernelStage>())
      continue;
    fixed.append(op.result_begin(), op.result_end());
    work = std::max(work, workOf(&op));
    if (!reducesInRegisters(&op))
      alongResult.push_back(countOf(shapeOf(op.getResult(0))));
  }
  int64_t common = 0;
  for (Value value : fixed) {
    common = std::gcd(common, countOf(shapeOf(value)));
    work = std::max(work, countOf(shapeOf(value)));
  }
  if (common == 0)
    return {};
  std::set<int64_t> counts = {1}, pieces;
  for (Value value : fixed) {
    int64_t before = 1;
    for (int64_t size : shapeOf(value)) {
      for (int64_t block : {512, 256, 128, 64, 32})
        if (size % block == 0)
          pieces.insert(before * (size / block));
      counts.insert(before *= size);
    }
  }
  std::vector<int64_t> candidates;
  pieces.insert(counts.begin(), counts.end());
  for (int64_t count : pieces)
    if (count != 0 && common % count == 0)
      candidates.push_back(count);
  // Sensible rows first, the shortest of them, whole ones before pieces; then
  // short ones, the longest first; then long ones; last, rows that leave
  // nothing to vectorise.
  auto rank = [&](int64_t count) {
    int64_t size = work / count;
    bool isThin = llvm::any_of(alongResult, [&](int64_t elements) {
      return elements / count < std::min(elements, kThinRow);
    });
    bool isPiece = !counts.count(count);
    if (isThin)
      return std::make_tuple(3, isPiece, -size);
    if (size >= kShortRow && size <= kLongRow)
      return std::make_tuple(0, isPiece, size);
    if (size < kShortRow)
      return std::make_tuple(1, isPiece, -size);
    return std::make_tuple(2, isPiece, size);
  };
  llvm::sort(candidates,
             [&](int64_t x, int64_t y) { return rank(x) < rank(y); });
  return candidates;
}

int64_t KernelEmitter::rowsPerTile() {
  int64_t work = 0;
  for (Operation &op : source.getBody().front())
    if (!op.hasTrait<OpTrait::IsTerminator>())
      work = std::max(work, workOf(&op));
  int64_t rowWork = std::max<int64_t>(1, work / rowCount);
  return std::clamp<int64_t>(kTileWork / rowWork, 1, rowCount);
}

void KernelEmitter::emitRow() {
  scopes.emplace_back();
  Block &block = source.getBody().front();
  for (Operation &op : block.without_terminator()) {
    bool isResult = llvm::any_of(op.getResults(), [&](Value value) {
      return writeTo.count(value) || stored.count(value);
    });
    if (!op.hasTrait<KernelStage>() && !isResult)
      continue;
    ++stage;
    emitStage(&op);
    if (outcome != Outcome::Done)
      return;
    if (rowsOf == RowsOf::Block)
      gpu::BarrierOp::create(b, loc);
  }
  for (Value argument : source.getArguments())
    if (writeTo.count(argument))
      emitMapStage(argument);
  scopes.pop_back();
}

void KernelEmitter::emitStage(Operation *op) {
  loc = op->getLoc();
  // Where no result asks for memory, a row of it is taken from scratch; a
  // single element may stay in a register.
  bool inMemory = isa<chlo::TopKOp, ScatterOp, SortOp>(op);
  for (Value value : op->getResults())
    if (!writeTo.count(value) && (rowSize(value) > 1 || inMemory)) {
      unsigned buffer = addBuffer(value, true, true);
      writeTo[value].push_back(buffer);
      readFrom[value] = buffer;
    }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ReduceOp reduce) { emitReduce(reduce); })
      .Case([&](DotGeneralOp dot) {
        auto numbers = dot.getDotDimensionNumbers();
        emitDot(dot, numbers.getLhsBatchingDimensions(),
                numbers.getRhsBatchingDimensions(),
                numbers.getLhsContractingDimensions(),
                numbers.getRhsContractingDimensions());
      })
      .Case([&](DotOp dot) {
        int64_t last = shapeOf(dot.getLhs()).size() - 1;
        emitDot(dot, {}, {}, {last}, {0});
      })
      .Case([&](ReduceWindowOp window) { emitReduceWindow(window); })
      .Case([&](ConvolutionOp conv) { emitConvolution(conv); })
      .Case([&](SortOp sort) { emitSort(sort); })
      .Case([&](chlo::TopKOp top) { emitTopK(top); })
      .Case([&](ScatterOp scatter) { emitScatter(scatter); })
      .Default([&](Operation *) {
        bool isOnto = llvm::any_of(op->getOperands(), [&](Value operand) {
          return isOverwritten(operand);
        });
        for (Value value : op->getResults())
          isOnto ? emitChanges(value) : emitMapStage(value);
      });
}

/// Stores an element of a result onto an operand, unless it is the operand's.
void KernelEmitter::storeChanged(Operation *op, const Index &inner,
                                 ArrayRef<Index> at) {
  std::optional<Value> isChanged;
  Value changed;
  Indices place(at);
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
    place.clear();
    isChanged = placeInUpdate(update, at, place);
    changed = update.getUpdate();
  } else {
    auto select = cast<SelectOp>(op);
    isChanged = elementAt(select.getPred(), at).value;
    changed = select.getOnTrue();
    if (isOverwritten(changed)) {
      isChanged = arith::XOrIOp::create(b, loc, *isChanged,
                                        s.integer(b.getI1Type(), 1));
      changed = select.getOnFalse();
    }
  }
  if (!isChanged || outcome != Outcome::Done)
    return;
  Value always = s.integer(b.getI1Type(), 1);
  auto branch =
      scf::IfOp::create(b, loc, *isChanged ? *isChanged : always, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scopes.emplace_back();
  Scalar scalar = elementAt(changed, place);
  if (outcome == Outcome::Done)
    storeElement(op->getResult(0), inner, scalar);
  scopes.pop_back();
}

void KernelEmitter::emitChanges(Value value) {
  Operation *op = value.getDefiningOp();
  inMapStage = true;
  emitSpread(
      value.getAsOpaquePointer(), 0, rowSize(value), [&](const Index &index) {
        storeChanged(op, index,
                     space.delinearise(rowFlat(value, index), shapeOf(value)));
      });
  inMapStage = false;
}

void KernelEmitter::emitMapStage(Value value) {
  bool isArgument = isa<BlockArgument>(value);
  auto at = [&](ArrayRef<Index> indices) {
    return isArgument ? elementAt(value, indices) : compute(value, indices);
  };
  int64_t inner = rowSize(value);
  if (inner == 1) {
    Scalar scalar = at(space.delinearise(row, shapeOf(value)));
    storeElement(value, Index(0), scalar);
    // As memory would give it back: rounded.
    ElementForm form(elementOf(value));
    if (!isArgument)
      setRowScalar(value, form.isFloat && outcome == Outcome::Done
                              ? s.convert(scalar, form.compute, form.element)
                              : scalar);
    return;
  }
  inMapStage = true;
  emitSpread(value.getAsOpaquePointer(), 0, inner, [&](const Index &index) {
    storeElement(value, index,
                 at(space.delinearise(rowFlat(value, index), shapeOf(value))));
  });
  inMapStage = false;
}

bool KernelEmitter::refineLoops() {
  bool changed = false;
  for (auto &entry : plans)
    changed |= entry.second.refine();
  return changed;
}

KernelEmitter::Outcome KernelEmitter::attempt(int64_t count) {
  rowCount = count;
  threads = threadsFor(count);
  stored.clear();
  plans.clear();
  // Cuts, splits and stores only grow; the bound is for our own mistakes.
  for (int round = 0; round < 64; ++round) {
    space = IndexSpace();
    outcome = Outcome::Done;
    wantsAgain = false;
    buffers.clear();
    readFrom.clear();
    writeTo.clear();
    temporaries.clear();
    rowScalars.clear();
    scopes.clear();
    loops.clear();
    costlyStage.clear();
    evaluations.clear();
    stage = 0;
    loc = source.getLoc();
    emitBody();
    if (outcome == Outcome::Done) {
      bool again = refineLoops() | wantsAgain;
      if (!again)
        return Outcome::Done;
    }
    body.erase();
    if (outcome != Outcome::Done)
      return outcome;
  }
  fail(Outcome::Unsupported, source.getLoc(), "expected loops to settle");
  return outcome;
}

/// An attempt that takes several rows as one if a transposition asks for it.
KernelEmitter::Outcome KernelEmitter::attemptBlocked(int64_t count) {
  wantsRowBlock = false;
  Outcome result = attempt(count);
  if (result != Outcome::Done || !wantsRowBlock || count % kRowBlock != 0)
    return result;
  body.erase();
  result = attempt(count / kRowBlock);
  return result == Outcome::Done ? result : attempt(count);
}

/// Emits the body with the first of these row counts that it can have.
KernelEmitter::Outcome KernelEmitter::tryRows(ArrayRef<int64_t> candidates) {
  std::vector<int64_t> hopeless;
  for (int64_t count : candidates) {
    if (llvm::any_of(hopeless, [&](int64_t h) { return count % h == 0; }))
      continue;
    Outcome result = attemptBlocked(count);
    if (result != Outcome::NotByRows)
      return result;
    hopeless.push_back(count);
  }
  return Outcome::NotByRows;
}

LogicalResult KernelEmitter::refuse() {
  return emitError(reasonLoc.value_or(source.getLoc())) << reason;
}

FailureOr<KernelShape> KernelEmitter::run() {
  if (failed(checkSupported()))
    return failure();
  std::vector<int64_t> candidates = rowCandidates();
  if (candidates.empty())
    return emitNothing();
  if (tryRows(candidates) != Outcome::Done)
    return refuse();
  return emitEntry();
}

FailureOr<GridShape> KernelEmitter::runGrid() {
  if (failed(checkSupported()))
    return failure();
  std::vector<GridRows> candidates = gridCandidates();
  if (candidates.empty())
    return emitGridNothing();
  for (const auto &[who, counts] : candidates) {
    rowsOf = who;
    Outcome result = tryRows(counts);
    if (result == Outcome::Done)
      return emitGridEntry();
    if (result == Outcome::Unsupported)
      break;
  }
  return refuse();
}

FailureOr<KernelShape> emitKernel(func::FuncOp source, ModuleOp target) {
  return KernelEmitter(source, target).run();
}

FailureOr<GridShape> emitGridKernel(func::FuncOp source, ModuleOp target) {
  return KernelEmitter(source, target).runGrid();
}

} // namespace mlir::sp
