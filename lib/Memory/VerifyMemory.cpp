//===- VerifyMemory.cpp - The guard of Memory -----------------------------===//

#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/Memory/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct VerifyMemoryPass
    : mlir::sp::impl::VerifyMemoryPassBase<VerifyMemoryPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(checkPlaces(*func)))
      signalPassFailure();
  }
};

} // namespace
