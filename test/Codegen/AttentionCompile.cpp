// Compiles a kernel to an object, links it and loads it.
#include "AttentionCompile.h"
#include "CPU/Attention/Forward/AttentionKernel.h"
#include "Machine/LowerToLLVM.h"
#include "Machine/ObjectEmission.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "sp/StableHLO/StableHLO.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <map>

using namespace attention_test;

mlir::Type attention_test::elementType(mlir::MLIRContext &context,
                                       Element element) {
  switch (element) {
  case Element::f64:
    return mlir::Float64Type::get(&context);
  case Element::f32:
    return mlir::Float32Type::get(&context);
  case Element::bf16:
    return mlir::BFloat16Type::get(&context);
  case Element::f16:
    break;
  }
  return mlir::Float16Type::get(&context);
}

bool attention_test::canRun(int64_t vectorBits, bool bf16Dots) {
  std::string error;
  auto target = mlir::sp::resolveCPUTarget("native", error);
  return mlir::succeeded(target) && target->vectorBits >= vectorBits &&
         (!bf16Dots || llvm::is_contained(target->features, "avx512bf16"));
}

/// Links `object` and returns the address of `symbol`, or null.
static void *linkAndLoad(llvm::ArrayRef<char> object,
                         const std::string &symbol) {
  llvm::SmallString<128> objectPath, sharedPath;
  int file;
  if (llvm::sys::fs::createTemporaryFile("attend", "o", file, objectPath) ||
      llvm::sys::fs::createTemporaryFile("attend", "so", sharedPath))
    return nullptr;
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream.write(object.data(), object.size());
  }
  const char *linker = SP_LLVM_TOOLS_DIR "/ld.lld";
  int status = llvm::sys::ExecuteAndWait(
      linker, {linker, "-shared", "-o", sharedPath, objectPath});
  void *library =
      status == 0 ? dlopen(sharedPath.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (llvm::sys::fs::remove(objectPath) || llvm::sys::fs::remove(sharedPath))
    return nullptr;
  return library ? dlsym(library, symbol.c_str()) : nullptr;
}

sprt_kernel attention_test::compileModule(mlir::ModuleOp module,
                                          const std::string &symbol,
                                          int64_t vectorBits, bool bf16Dots) {
  std::string error;
  auto target = mlir::sp::resolveCPUTarget(bf16Dots            ? "native"
                                           : vectorBits == 512 ? "x86-64-v4"
                                                               : "x86-64-v3",
                                           error);
  llvm::SmallVector<char> object;
  if (failed(mlir::verify(module)) || failed(target) ||
      failed(mlir::sp::lowerToLLVM(module)) ||
      failed(mlir::sp::emitObject(module, *target, object)))
    return nullptr;
  return reinterpret_cast<sprt_kernel>(linkAndLoad(object, symbol));
}

mlir::OwningOpRef<mlir::ModuleOp>
attention_test::parseScore(mlir::MLIRContext &context,
                           const std::string &text) {
  context.loadDialect<mlir::func::FuncDialect,
                      mlir::stablehlo::StablehloDialect>();
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
}

static Kernel compileKernel(const KernelConfig &config) {
  mlir::MLIRContext context;
  mlir::sp::AttentionKernelConfig kernel;
  kernel.headSize = config.headSize;
  kernel.valueSize = config.valueSize;
  kernel.elementType = elementType(context, config.element);
  kernel.vectorBits = config.vectorBits;
  kernel.queryBlock = config.queryBlock;
  kernel.keyBlock = config.keyBlock;
  kernel.bf16Dots = config.bf16Dots;
  kernel.keepsSums = config.keepsSums;
  Kernel result{config, nullptr, 0, 0};
  auto loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc),
                                    scores;
  if (!config.score.empty()) {
    scores = parseScore(context, config.score);
    if (!scores)
      return result;
    setScore(config, *scores, kernel);
  }
  if (failed(mlir::sp::verifyAttentionKernel(loc, kernel)))
    return result;
  mlir::sp::buildAttentionKernel(*module, loc, kernel);
  result.queryBlock = mlir::sp::attentionQueryBlock(kernel);
  result.scratchBytes = mlir::sp::attentionScratchBytes(kernel);
  result.function =
      compileModule(*module, mlir::sp::attentionKernelName(kernel),
                    config.vectorBits, config.bf16Dots);
  return result;
}

Kernel attention_test::loadKernel(const KernelConfig &config) {
  static std::map<std::pair<std::vector<int64_t>, std::string>, Kernel> loaded;
  std::vector<int64_t> key = {static_cast<int64_t>(config.element),
                              config.headSize,
                              config.valueSize,
                              config.vectorBits,
                              config.queryBlock,
                              config.keyBlock,
                              config.bf16Dots,
                              config.perQuery,
                              config.perKey,
                              config.perHead,
                              config.pair,
                              config.keepsSums};
  auto [entry, isNew] = loaded.try_emplace({key, config.score});
  if (isNew)
    entry->second = compileKernel(config);
  EXPECT_NE(entry->second.function, nullptr) << "the kernel did not compile";
  return entry->second;
}
