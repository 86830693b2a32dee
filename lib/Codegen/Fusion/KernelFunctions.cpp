// The two functions of a kernel: `@k.body`, whose arguments are the buffers (so
// that LLVM may know that they do not overlap), and `@k`, which unpacks them.

#include "Fusion/KernelEmitter.h"
#include "sp/IR/Attributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

/// Of every operand and result, in bytes.
static constexpr int64_t kAlignment = 64;

void KernelEmitter::emitBody() {
  b.setInsertionPointToEnd(target.getBody());
  body = func::FuncOp::create(b, loc, (source.getName() + ".body").str(),
                              b.getFunctionType({}, {}));
  body.setPrivate();
  Block *entry = body.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  // Tiles [first, last); or rows from the first at steps, and the thread.
  Value first = entry->addArgument(b.getI64Type(), loc);
  Value second = entry->addArgument(b.getI64Type(), loc);
  if (rowsOf != RowsOf::Tile)
    thread = entry->addArgument(b.getI64Type(), loc);
  unsigned leading = entry->getNumArguments();
  unsigned buffersListed = source.getNumArguments() + source.getNumResults();
  for (Value argument : source.getArguments())
    readFrom[argument] = addBuffer(argument, false, false);
  Operation *terminator = source.getBody().front().getTerminator();
  for (Value result : terminator->getOperands()) {
    unsigned buffer = addBuffer(result, true, false);
    writeTo[result].push_back(buffer);
    readFrom.try_emplace(result, buffer);
  }

  Value begin = first, end = s.i64(rowCount), step = second;
  if (rowsOf == RowsOf::Tile) {
    Value perTile = s.i64(rowsPerTile());
    begin = arith::MulIOp::create(b, loc, first, perTile);
    end = arith::MinSIOp::create(
        b, loc, arith::MulIOp::create(b, loc, second, perTile), end);
    step = s.i64(1);
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, step);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    row = space.addValue(loop.getInductionVar(), {0, rowCount - 1});
    emitRow();
  }
  func::ReturnOp::create(b, loc);

  // Buffers do not overlap, and those of operands are not written. What is
  // written another thread of the block may read, behind the compiler's back.
  body.setFunctionType(b.getFunctionType(entry->getArgumentTypes(), {}));
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                    b.getContext(), LLVM::Linkage::Internal));
  for (unsigned i = leading; i < entry->getNumArguments(); ++i) {
    bool isOperand = i < leading + source.getNumArguments();
    if (i < leading + buffersListed)
      body.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(kAlignment));
    if (isOperand || rowsOf != RowsOf::Block)
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      b.getUnitAttr());
    if (isOperand)
      body.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                      b.getUnitAttr());
  }
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
  for (const Temporary &temporary : temporaries) {
    arguments.push_back(
        s.address(block->getArgument(4), s.i64(offset), b.getI8Type()));
    offset += llvm::alignTo(temporary.bytes, kAlignment);
  }
  func::CallOp::create(b, loc, body, arguments);
  func::ReturnOp::create(b, loc);
  int64_t perTile = rowsPerTile();
  KernelShape shape{(rowCount + perTile - 1) / perTile, offset};
  entry->setAttr(kTiles, b.getI64IntegerAttr(shape.tiles));
  entry->setAttr(kScratchBytes, b.getI64IntegerAttr(shape.scratchBytes));
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

} // namespace mlir::sp
