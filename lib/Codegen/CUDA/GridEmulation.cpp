// Kernels for GPUs as functions of the host: what a thread asks the GPU for it
// reads from its last argument.
//
//   before   func @k(%buffer, ..., %scratch)       gpu.thread_id x, gpu.barrier
//   after    func @k(%arguments, %thread)          unpacks and calls
//            func private @k.grid(%buffer, ..., %scratch, %thread)

#include "CUDA/GridEmission.h"
#include "sp/IR/Attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::sp {

/// Fields of sprt_grid_thread, each of 8 bytes.
enum Field { kThread, kBlock, kBlocks, kShared, kBarrier };

static Value loadField(OpBuilder &b, Location loc, Value thread, Field field,
                       Type type) {
  Value address =
      LLVM::GEPOp::create(b, loc, thread.getType(), b.getI64Type(), thread,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field)});
  return LLVM::LoadOp::create(b, loc, type, address);
}

/// Replaces what `op` asks the GPU for.
static void emulate(Operation *op, Value thread) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type pointer = thread.getType();
  auto number = [&](Field field) {
    Value value = loadField(b, loc, thread, field, b.getI64Type());
    op->getResult(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), value));
    op->erase();
  };
  if (isa<gpu::ThreadIdOp>(op))
    return number(kThread);
  if (isa<gpu::BlockIdOp>(op))
    return number(kBlock);
  if (isa<gpu::GridDimOp>(op))
    return number(kBlocks);
  if (isa<gpu::BarrierOp>(op)) {
    Value barrier = loadField(b, loc, thread, kBarrier, pointer);
    LLVM::CallOp::create(b, loc,
                         LLVM::LLVMFunctionType::get(
                             LLVM::LLVMVoidType::get(b.getContext()), pointer),
                         ValueRange{barrier, thread});
    op->erase();
    return;
  }
  if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op)) {
    cast.replaceAllUsesWith(loadField(b, loc, thread, kShared, pointer));
    cast.erase();
  }
}

/// The function that unpacks the arguments of a kernel.
static void addEntry(func::FuncOp grid) {
  OpBuilder b(grid);
  Location loc = grid.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  std::string name = grid.getName().str();
  grid.setName(name + ".grid");
  grid.setPrivate();
  auto entry = func::FuncOp::create(b, loc, name,
                                    b.getFunctionType({pointer, pointer}, {}));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> arguments;
  for (int32_t i = 0; i + 1 < int32_t(grid.getNumArguments()); ++i)
    arguments.push_back(LLVM::LoadOp::create(
        b, loc, pointer,
        LLVM::GEPOp::create(b, loc, pointer, pointer, block->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{i})));
  arguments.push_back(block->getArgument(1));
  func::CallOp::create(b, loc, grid, arguments);
  func::ReturnOp::create(b, loc);
}

void emulateGrids(ModuleOp kernels) {
  Type pointer = LLVM::LLVMPointerType::get(kernels.getContext());
  SmallVector<func::FuncOp> functions(kernels.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    (void)function.insertArgument(function.getNumArguments(), pointer, {},
                                  function.getLoc());
  for (func::FuncOp function : functions) {
    Value thread = function.getArguments().back();
    SmallVector<Operation *> asked;
    function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        call->insertOperands(call->getNumOperands(), thread);
      if (isa<gpu::GPUDialect>(op->getDialect()) ||
          isa<LLVM::AddrSpaceCastOp>(op))
        asked.push_back(op);
    });
    for (Operation *op : asked)
      emulate(op, thread);
    if (function->hasAttr(kGrid))
      addEntry(function);
  }
  // Nobody asks for its address any more.
  SmallVector<LLVM::AddressOfOp> shared;
  kernels.walk([&](LLVM::AddressOfOp op) {
    if (op.getGlobalName() == "sprt_shared")
      shared.push_back(op);
  });
  for (LLVM::AddressOfOp op : shared)
    op.erase();
}

} // namespace mlir::sp
