// Rows, stages and the two functions of a kernel: `@k.body`, whose arguments
// are the buffers (so that LLVM may know that they do not overlap), and `@k`,
// which unpacks them.

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

namespace mlir::sp {

using namespace stablehlo;

/// Elements that a tile works on, about.
static constexpr int64_t kTileWork = 16384;
/// Rows with less work than this leave inner loops too short to be fast.
static constexpr int64_t kShortRow = 128;
/// Rows with more work than this leave little for other threads.
static constexpr int64_t kLongRow = 65536;

static bool isStage(Operation *op) {
  return isa<ReduceOp, ReduceWindowOp, DotGeneralOp, DotOp, ConvolutionOp,
             SortOp, ScatterOp, chlo::TopKOp>(op);
}

bool isKernelOp(Operation *op) {
  auto supported = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           isSupportedElement(tensor.getElementType());
  };
  if (!llvm::all_of(op->getOperandTypes(), supported) ||
      !llvm::all_of(op->getResultTypes(), supported))
    return false;
  return hasScalarForm(op) || isStage(op) ||
         isa<BitcastConvertOp, BroadcastInDimOp, BroadcastOp, ConcatenateOp,
             ConstantOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp,
             GetDimensionSizeOp, IotaOp, MapOp, OptimizationBarrierOp, PadOp,
             ReshapeOp, ReverseOp, SliceOp, TransposeOp>(op);
}

KernelEmitter::KernelEmitter(func::FuncOp source, ModuleOp target)
    : source(source), target(target), b(source.getContext()),
      loc(source.getLoc()), s(b, loc) {}

LogicalResult KernelEmitter::checkSupported() {
  LogicalResult result = success();
  source.walk([&](Operation *op) {
    if (op == source || op->hasTrait<OpTrait::IsTerminator>() || isKernelOp(op))
      return;
    result = op->emitError("expected an operation that CPU kernels support "
                           "but got '")
             << op->getName() << "' on these types";
  });
  return result;
}

/// Elements that an operation reads or makes, whichever is more.
int64_t KernelEmitter::workOf(Operation *op) const {
  int64_t work = 1;
  for (Value result : op->getResults())
    work = std::max(work, countOf(shapeOf(result)));
  if (!isStage(op))
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

int64_t KernelEmitter::rowSize(Value value) const {
  return countOf(shapeOf(value)) / rowCount;
}

/// Row counts to try, best first: multiples of a count that failed would fail
/// too.
std::vector<int64_t> KernelEmitter::rowCandidates() {
  SmallVector<Value> fixed(
      source.getBody().front().getTerminator()->getOperands());
  int64_t work = 1;
  for (Operation &op : source.getBody().front()) {
    if (isStage(&op))
      fixed.append(op.result_begin(), op.result_end());
    if (!op.hasTrait<OpTrait::IsTerminator>() && isStage(&op))
      work = std::max(work, workOf(&op));
  }
  int64_t common = 0;
  for (Value value : fixed) {
    common = std::gcd(common, countOf(shapeOf(value)));
    work = std::max(work, countOf(shapeOf(value)));
  }
  if (common == 0)
    return {};
  std::set<int64_t> counts = {1};
  for (Value value : fixed) {
    int64_t before = 1;
    for (int64_t size : shapeOf(value)) {
      for (int64_t block : {512, 256, 128, 64, 32})
        if (size % block == 0)
          counts.insert(before * (size / block));
      counts.insert(before *= size);
    }
  }
  std::vector<int64_t> candidates;
  for (int64_t count : counts)
    if (common % count == 0)
      candidates.push_back(count);
  // Sensible rows first, the shortest of them; then short ones, the longest
  // first; then long ones.
  auto rank = [&](int64_t count) {
    int64_t size = work / count;
    if (size >= kShortRow && size <= kLongRow)
      return std::make_pair(0, size);
    if (size < kShortRow)
      return std::make_pair(1, -size);
    return std::make_pair(2, size);
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

void KernelEmitter::fail(Outcome which, Location where, const Twine &text) {
  if (outcome == Outcome::Unsupported)
    return;
  outcome = which;
  reason = text.str();
  reasonLoc = where;
}

unsigned KernelEmitter::addBuffer(Value value, bool isWritten,
                                  bool isTemporary) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value argument = body.getBody().front().addArgument(pointer, loc);
  buffers.push_back({argument, ElementForm(elementOf(value)),
                     SmallVector<int64_t>(shapeOf(value)), isWritten,
                     isTemporary});
  if (isTemporary)
    temporaryBytes.push_back(rowSize(value) * buffers.back().form.bytes());
  return buffers.size() - 1;
}

/// One row of memory that is not the image of a value.
Value KernelEmitter::addTemporary(Type element, int64_t count) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  temporaryBytes.push_back(count * ElementForm(element).bytes());
  return body.getBody().front().addArgument(pointer, loc);
}

void KernelEmitter::emitBody() {
  b.setInsertionPointToEnd(target.getBody());
  body = func::FuncOp::create(b, loc, (source.getName() + ".body").str(),
                              b.getFunctionType({}, {}));
  body.setPrivate();
  Block *entry = body.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  Value first = entry->addArgument(b.getI64Type(), loc);
  Value last = entry->addArgument(b.getI64Type(), loc);
  for (Value argument : source.getArguments())
    readFrom[argument] = addBuffer(argument, false, false);
  Operation *terminator = source.getBody().front().getTerminator();
  for (Value result : terminator->getOperands()) {
    unsigned buffer = addBuffer(result, true, false);
    writeTo[result].push_back(buffer);
    readFrom.try_emplace(result, buffer);
  }

  Value perTile = s.i64(rowsPerTile());
  Value begin = arith::MulIOp::create(b, loc, first, perTile);
  Value end = arith::MinSIOp::create(
      b, loc, arith::MulIOp::create(b, loc, last, perTile), s.i64(rowCount));
  auto loop = scf::ForOp::create(b, loc, begin, end, s.i64(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    row = space.addValue(loop.getInductionVar(), {0, rowCount - 1});
    emitRow();
  }
  func::ReturnOp::create(b, loc);

  // Buffers do not overlap, and those of operands are not written.
  body.setFunctionType(b.getFunctionType(entry->getArgumentTypes(), {}));
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                    b.getContext(), LLVM::Linkage::Internal));
  for (unsigned i = 2; i < entry->getNumArguments(); ++i) {
    body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                    b.getUnitAttr());
    if (i < 2 + source.getNumArguments())
      body.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                      b.getUnitAttr());
  }
}

void KernelEmitter::emitRow() {
  scopes.emplace_back();
  Block &block = source.getBody().front();
  for (Operation &op : block.without_terminator()) {
    bool isResult = llvm::any_of(op.getResults(), [&](Value value) {
      return writeTo.count(value) || stored.count(value);
    });
    if (!isStage(&op) && !isResult)
      continue;
    ++stage;
    emitStage(&op);
    if (outcome != Outcome::Done)
      return;
  }
  for (Value argument : source.getArguments())
    if (writeTo.count(argument))
      emitMapStage(argument);
  scopes.pop_back();
}

void KernelEmitter::emitStage(Operation *op) {
  loc = op->getLoc();
  // Where no result asks for memory, a row of it is taken from scratch.
  for (Value value : op->getResults())
    if (!writeTo.count(value) && (rowSize(value) > 1 || isa<ScatterOp>(op))) {
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
        for (Value value : op->getResults())
          emitMapStage(value);
      });
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
    if (!isArgument)
      setRowScalar(value, scalar);
    return;
  }
  emitLoops(plan(value.getAsOpaquePointer(), 0, inner), [&](Index index) {
    storeElement(value, index,
                 at(space.delinearise(rowFlat(value, index), shapeOf(value))));
  });
}

bool KernelEmitter::refineLoops() {
  bool changed = false;
  for (auto &entry : plans)
    changed |= entry.second.refine();
  return changed;
}

KernelEmitter::Outcome KernelEmitter::attempt(int64_t count) {
  rowCount = count;
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
    temporaryBytes.clear();
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

KernelShape KernelEmitter::emitEntry() {
  loc = source.getLoc();
  b.setInsertionPointToEnd(target.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto entry = func::FuncOp::create(
      b, loc, source.getName(),
      b.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> arguments = {block->getArgument(2), block->getArgument(3)};
  unsigned listed = source.getNumArguments() + source.getNumResults();
  for (unsigned i = 0; i < listed; ++i)
    arguments.push_back(LLVM::LoadOp::create(
        b, loc, pointer, s.address(block->getArgument(0), s.i64(i), pointer)));
  int64_t offset = 0;
  for (int64_t bytes : temporaryBytes) {
    arguments.push_back(
        s.address(block->getArgument(4), s.i64(offset), b.getI8Type()));
    offset += (bytes + 63) / 64 * 64;
  }
  func::CallOp::create(b, loc, body, arguments);
  func::ReturnOp::create(b, loc);
  int64_t perTile = rowsPerTile();
  KernelShape shape{(rowCount + perTile - 1) / perTile, offset};
  entry->setAttr("sp.tiles", b.getI64IntegerAttr(shape.tiles));
  entry->setAttr("sp.scratch_bytes", b.getI64IntegerAttr(shape.scratchBytes));
  return shape;
}

/// A kernel whose results are all empty.
KernelShape KernelEmitter::emitNothing() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  b.setInsertionPointToEnd(target.getBody());
  auto entry = func::FuncOp::create(
      b, loc, source.getName(),
      b.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  b.setInsertionPointToEnd(entry.addEntryBlock());
  func::ReturnOp::create(b, loc);
  return {0, 0};
}

FailureOr<KernelShape> KernelEmitter::run() {
  if (failed(checkSupported()))
    return failure();
  std::vector<int64_t> candidates = rowCandidates();
  if (candidates.empty())
    return emitNothing();
  std::vector<int64_t> hopeless;
  for (int64_t count : candidates) {
    if (llvm::any_of(hopeless, [&](int64_t h) { return count % h == 0; }))
      continue;
    Outcome result = attempt(count);
    if (result == Outcome::Done)
      return emitEntry();
    if (result == Outcome::Unsupported)
      break;
    hopeless.push_back(count);
  }
  return emitError(reasonLoc.value_or(source.getLoc())) << reason;
}

FailureOr<KernelShape> emitKernel(func::FuncOp source, ModuleOp target) {
  return KernelEmitter(source, target).run();
}

} // namespace mlir::sp
