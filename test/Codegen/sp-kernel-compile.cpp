//===- sp-kernel-compile.cpp - Compiles functions as kernels --------------===//
//
// sp-kernel-compile in.mlir out.spx [cpu]: every public function becomes
// one kernel, functions it calls inlined. Prints a line a kernel: name, tiles,
// scratch bytes. For tests that compare kernels with other implementations.

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "sp/Codegen/ArtifactLink.h"
#include "sp/Codegen/KernelEmission.h"
#include "sp/Codegen/LowerToLLVM.h"
#include "sp/Codegen/ObjectEmission.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: sp-kernel-compile in.mlir out.spx [cpu]\n";
    return 1;
  }
  DialectRegistry registry;
  sp::registerInputDialects(registry);
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  LLVM::LLVMDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  PassManager manager(&context);
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  if (failed(manager.run(*module)))
    return 1;

  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module->getLoc());
  for (auto function : module->getOps<func::FuncOp>()) {
    FailureOr<sp::KernelShape> shape = sp::emitKernel(function, *kernels);
    if (failed(shape))
      return 1;
    llvm::outs() << function.getName() << " " << shape->tiles << " "
                 << shape->scratchBytes << "\n";
  }
  if (getenv("SP_KERNEL_PRINT"))
    kernels->print(llvm::errs());
  std::string error;
  FailureOr<sp::CPUTarget> target =
      sp::resolveCPUTarget(argc > 3 ? argv[3] : "native", error);
  SmallVector<char, 0> object;
  if (failed(target) || failed(sp::lowerToLLVM(*kernels)) ||
      failed(sp::emitObject(*kernels, *target, object))) {
    llvm::errs() << error << "\n";
    return 1;
  }
  ArrayRef<char> part(object);
  std::string plan = "no plan";
  sp::ArtifactParts parts;
  parts.objects = part;
  parts.plan = {plan.data(), plan.size()};
  if (succeeded(sp::linkArtifact(parts, argv[2], error)))
    return 0;
  llvm::errs() << error << "\n";
  return 1;
}
