// What kernels for GPUs do otherwise. Where elements are computed one by one, a
// thread takes a few that follow each other; where sums go along rows, a block
// takes a row:
//
//     for row = block; row < rows; row += blocks
//       for element = thread ...       partial sums
//       slots[thread] = partial        in shared memory
//       barrier, a tree over slots     the same order whatever the timing
//       for element = thread ...       the normalised row
//
// What depends on an order that one thread alone can follow (sorting, sums so
// far) is one thread's, a row each.

#include "Fusion/KernelEmitter.h"
#include "sp/IR/Attributes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

#include <functional>
#include <numeric>

namespace mlir::sp {

using namespace stablehlo;

static constexpr int64_t kWarp = 32, kMostThreads = 512, kRowThreads = 256;
/// Temporaries of a thread that may become registers, and of a block that leave
/// room for another one beside it.
static constexpr int64_t kMostLocal = 1024, kMostShared = 96 << 10;
/// Scratch memory of all blocks together.
static constexpr int64_t kMostScratch = 64 << 20;
/// Fewer rows than this leave most of a GPU without work.
static constexpr int64_t kFewRows = 4096;

/// Whether one thread has to do all of the operation's row.
static bool isSerial(Operation *op) {
  return isa<SortOp, chlo::TopKOp, ScatterOp, ReduceWindowOp>(op);
}

/// Who takes rows, and how many of them there may be, best first.
std::vector<KernelEmitter::GridRows> KernelEmitter::gridCandidates() {
  std::vector<int64_t> counts = rowCandidates();
  if (counts.empty())
    return {};
  bool hasStage = false, hasSerial = false;
  SmallVector<Value> written(
      source.getBody().front().getTerminator()->getOperands());
  for (Operation &op : source.getBody().front()) {
    hasStage |= op.hasTrait<KernelStage>();
    hasSerial |= isSerial(&op);
    if (op.hasTrait<KernelStage>())
      written.append(op.result_begin(), op.result_end());
  }
  int64_t common = 0, largest = 0;
  for (Value value : written) {
    common = std::gcd(common, countOf(shapeOf(value)));
    largest = std::max(largest, countOf(shapeOf(value)));
  }
  if (hasSerial) {
    llvm::sort(counts, std::greater<>());
    return {{RowsOf::Thread, counts}};
  }
  std::vector<GridRows> candidates;
  if (!hasStage && (common >= kFewRows || common == largest)) {
    std::vector<int64_t> &few = candidates.emplace_back().second;
    candidates.back().first = RowsOf::Thread;
    for (int64_t width = kGridWidth; width > 0; width /= 2)
      if (common % width == 0)
        few.push_back(common / width);
  }
  // One result of a reduction a row, or enough of them for a warp.
  auto isEven = [&](int64_t count) {
    return llvm::all_of(written, [&](Value value) {
      Operation *op = value.getDefiningOp();
      int64_t elements = countOf(shapeOf(value)) / count;
      if (!op || !op->hasTrait<KernelStage>() || elements >= kWarp)
        return true;
      return elements == 1 && reducesInRegisters(op);
    });
  };
  llvm::sort(counts, [&](int64_t x, int64_t y) {
    bool even = isEven(x);
    return even != isEven(y) ? even : x > y;
  });
  candidates.emplace_back(RowsOf::Block, std::move(counts));
  return candidates;
}

int64_t KernelEmitter::threadsFor(int64_t count) {
  if (rowsOf == RowsOf::Tile)
    return 1;
  if (rowsOf == RowsOf::Thread)
    return kRowThreads;
  int64_t widest = 1;
  for (Operation &op : source.getBody().front().without_terminator())
    widest = std::max(widest, workOf(&op) / count);
  return std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(widest, kGridWidth)), kWarp,
      kMostThreads);
}

/// So that LLVM sees that neighbours are neighbours, and takes them at once.
void KernelEmitter::unrollLoops() {
  SmallVector<scf::ForOp> loops;
  body.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kUnrolled))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    (void)loopUnrollFull(loop);
}

/// The block of the kernel's function, where the builder then is. Its arguments
/// are the buffers, then scratch memory.
Block *KernelEmitter::createGridEntry() {
  loc = source.getLoc();
  b.setInsertionPointToEnd(target.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  unsigned listed = source.getNumArguments() + source.getNumResults();
  auto entry = func::FuncOp::create(
      b, loc, source.getName(),
      b.getFunctionType(SmallVector<Type>(listed + 1, pointer), {}));
  entry->setAttr(kGrid, b.getUnitAttr());
  entry->setAttr(kThreads, b.getI32IntegerAttr(threads));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToEnd(block);
  return block;
}

/// A kernel whose results are all empty.
GridShape KernelEmitter::emitGridNothing() {
  createGridEntry();
  func::ReturnOp::create(b, loc);
  return GridShape{1};
}

GridShape KernelEmitter::emitGridEntry() {
  unrollLoops();
  Block *block = createGridEntry();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  unsigned listed = block->getNumArguments() - 1;
  auto number = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  };
  constexpr gpu::Dimension x = gpu::Dimension::x;
  Value own = number(gpu::ThreadIdOp::create(b, loc, x));
  Value first = number(gpu::BlockIdOp::create(b, loc, x));
  Value step = number(gpu::GridDimOp::create(b, loc, x));
  GridShape shape;
  shape.threads = threads;
  shape.blocks = rowCount;
  if (rowsOf == RowsOf::Thread) {
    Value perBlock = s.i64(threads);
    first = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, first, perBlock), own);
    step = arith::MulIOp::create(b, loc, step, perBlock);
    shape.blocks = llvm::divideCeil(rowCount, threads);
  }

  constexpr uint64_t aligned = 16;
  int64_t needed = 0;
  for (const Temporary &temporary : temporaries)
    needed += llvm::alignTo(temporary.bytes, aligned);
  bool isLocal = rowsOf == RowsOf::Thread && needed <= kMostLocal;
  bool isShared = rowsOf == RowsOf::Block && needed <= kMostShared;
  Value shared;
  if (rowsOf == RowsOf::Block && needed > 0)
    shared = LLVM::AddrSpaceCastOp::create(
        b, loc, pointer,
        LLVM::AddressOfOp::create(b, loc,
                                  LLVM::LLVMPointerType::get(b.getContext(), 3),
                                  "sprt_shared"));
  int64_t elsewhere = 0; ///< of who takes a row
  for (const Temporary &temporary : temporaries)
    if (!isLocal && !isShared && !temporary.isShared)
      elsewhere += llvm::alignTo(temporary.bytes, aligned);
  Value scratch = block->getArgument(listed);
  if (elsewhere > 0)
    scratch = s.address(scratch,
                        arith::MulIOp::create(b, loc, first, s.i64(elsewhere)),
                        b.getI8Type());

  SmallVector<Value> arguments = {first, step, own};
  llvm::append_range(arguments, block->getArguments().take_front(listed));
  int64_t offset = 0;
  for (const Temporary &temporary : temporaries) {
    int64_t bytes = llvm::alignTo(temporary.bytes, aligned);
    if (isLocal) {
      arguments.push_back(LLVM::AllocaOp::create(b, loc, pointer, b.getI8Type(),
                                                 s.i64(bytes), aligned));
      continue;
    }
    bool inShared = isShared || temporary.isShared;
    int64_t &at = inShared ? shape.sharedBytes : offset;
    arguments.push_back(
        s.address(inShared ? shared : scratch, s.i64(at), b.getI8Type()));
    at += bytes;
  }
  func::CallOp::create(b, loc, body, arguments);
  func::ReturnOp::create(b, loc);
  // The attributes are lost where the body is inlined.
  auto entry = cast<func::FuncOp>(block->getParentOp());
  constexpr unsigned leading = 3;
  for (unsigned i = 0; i < listed; ++i)
    entry.setArgAttrs(i, body.getArgAttrDict(leading + i));
  if (elsewhere > 0) {
    shape.scratchBytes = elsewhere * (rowsOf == RowsOf::Thread ? threads : 1);
    shape.blocks = std::min(
        shape.blocks, std::max<int64_t>(1, kMostScratch / shape.scratchBytes));
  }
  return shape;
}

} // namespace mlir::sp
