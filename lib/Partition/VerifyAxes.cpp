//===- VerifyAxes.cpp - Reduced once, gathered where dealt ----------------===//

#include "sp/IR/AxisTypes.h"
#include "sp/IR/Program.h"
#include "sp/Partition/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYAXESPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct VerifyAxesPass : mlir::sp::impl::VerifyAxesPassBase<VerifyAxesPass> {
  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    if (!mesh || mesh.getRanks() == 1)
      return;
    if (failed(AxisTypes(*func, mesh).check()))
      signalPassFailure();
  }
};

} // namespace
