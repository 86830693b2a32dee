// Kernels for GPUs -> NVVM -> LLVM IR, with CUDA's library of mathematics ->
// PTX. The text is for sm_80 so that every GPU since then can translate it.

#include "CUDA/GridEmission.h"
#include "sp/IR/Attributes.h"

#include "Machine/LowerToLLVM.h"
#include "Machine/MachineCode.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace mlir::sp {

static constexpr const char *kPtxTriple = "nvptx64-nvidia-cuda";
static constexpr const char *kProcessor = "sm_80", *kFeatures = "+ptx80";

/// gpu ops to NVVM ops, and mathematics to calls of CUDA's library.
static LogicalResult convertToNVVM(ModuleOp kernels) {
  MLIRContext *context = kernels.getContext();
  context->loadDialect<NVVM::NVVMDialect>();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateLibDeviceConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalDialect<gpu::GPUDialect>();
  // What PTX has instructions for stays; f64 exponentials are calls.
  target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
                      math::AtanOp, math::AtanhOp, math::Atan2Op, math::CbrtOp,
                      math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp,
                      math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
                      math::Log10Op, math::Log1pOp, math::Log2Op, math::PowFOp,
                      math::RsqrtOp, math::SinOp, math::SinhOp, math::TanOp,
                      math::TanhOp, arith::RemFOp>();
  return applyPartialConversion(kernels, target, std::move(patterns));
}

static LogicalResult lowerToNVVM(ModuleOp kernels) {
  OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, kernels.getLoc(), bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, "sprt_shared", Attribute(),
                         /*alignment=*/16, /*addrSpace=*/3);
  if (failed(convertToNVVM(kernels)) || failed(lowerToLLVM(kernels)))
    return failure();
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(kGrid))
      continue;
    auto threads = function->getAttrOfType<IntegerAttr>(kThreads);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      b.getUnitAttr());
    function->setAttr(
        NVVM::NVVMDialect::getReqntidAttrName(),
        b.getDenseI32ArrayAttr({static_cast<int32_t>(threads.getInt())}));
  }
  return success();
}

static std::unique_ptr<llvm::TargetMachine> createMachine(std::string &error) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  llvm::Triple triple(kPtxTriple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, kProcessor, kFeatures, options, std::nullopt));
}

/// Takes from the library what `module` calls.
static bool linkMathematics(llvm::Module &module, StringRef libdevice,
                            std::string &error) {
  std::string called;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      called = function.getName();
  if (called.empty())
    return true;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library =
      libdevice.empty()
          ? nullptr
          : llvm::parseIRFile(libdevice, diagnostic, module.getContext());
  if (!library) {
    error = "expected CUDA's library of mathematics for " + called +
            (libdevice.empty() ? ", nvvm/libdevice beside nvcc, but found none"
                               : " in '" + libdevice.str() + "' but got: " +
                                     diagnostic.getMessage().str());
    return false;
  }
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (!llvm::Linker::linkModules(
          module, std::move(library), llvm::Linker::LinkOnlyNeeded,
          [](llvm::Module &linked, const llvm::StringSet<> &names) {
            llvm::internalizeModule(
                linked, [&](const llvm::GlobalValue &value) {
                  return !value.hasName() || !names.contains(value.getName());
                });
          }))
    return true;
  error = "expected to link '" + libdevice.str() + "'";
  return false;
}

FailureOr<std::string> emitPtx(ModuleOp kernels, StringRef libdevice) {
  if (failed(lowerToNVVM(kernels)))
    return failure();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(error);
  if (!machine)
    return kernels.emitError() << "expected LLVM to support " << kPtxTriple
                               << " but got: " << error;
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (!linkMathematics(*module, libdevice, error))
    return kernels.emitError() << error;
  optimise(*module, *machine);
  llvm::SmallVector<char, 0> text;
  if (!writeCode(*module, *machine, llvm::CodeGenFileType::AssemblyFile, text))
    return kernels.emitError("expected LLVM to write PTX");
  return std::string(text.begin(), text.end());
}

} // namespace mlir::sp
