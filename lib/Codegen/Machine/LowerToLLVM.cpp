// From structured control flow, arithmetic and vectors to the LLVM dialect. One
// pipeline for fused and attention kernels: vectors are unrolled first, while
// loops are still loops; control flow goes before types change.

#include "Machine/LowerToLLVM.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::sp {

void addLoweringPasses(OpPassManager &manager) {
  VectorTransferToSCFOptions transfers;
  manager.addPass(createConvertVectorToSCFPass(transfers.enableFullUnroll()));
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(arith::createArithExpandOpsPass());
  ConvertVectorToLLVMPassOptions vectors;
  // The default (dot) would turn a register tile into horizontal sums.
  vectors.vectorContractLowering = vector::VectorContractLowering::OuterProduct;
  vectors.x86Vector = true;
  manager.addPass(createConvertVectorToLLVMPass(vectors));
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void registerLowerToLLVMPipeline() {
  PassPipelineRegistration<>(
      "sp-lower-to-llvm",
      "Lower CPU kernels from scf, arith, math, vector and memref to LLVM",
      addLoweringPasses);
}

LogicalResult lowerToLLVM(ModuleOp kernels) {
  PassManager manager(kernels.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(false);
  addLoweringPasses(manager);
  return manager.run(kernels);
}

} // namespace mlir::sp
