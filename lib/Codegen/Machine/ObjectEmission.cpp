// LLVM dialect -> LLVM IR -> optimised object. Features are spelled out one by
// one instead of being implied by a processor's name: the list goes into the
// plan, and the loader can check it against the machine it runs on.

#include "Machine/ObjectEmission.h"

#include "Machine/MachineCode.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace mlir::sp {

static constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

/// x86-64-v3, v4, and what native may add; in the order a plan lists them.
static constexpr const char *kV3[] = {"avx2", "fma",   "f16c",  "bmi",
                                      "bmi2", "lzcnt", "popcnt"};
static constexpr const char *kV4[] = {"avx512f", "avx512bw", "avx512cd",
                                      "avx512dq", "avx512vl"};
static constexpr const char *kExtra[] = {"avx512bf16", "avx512vnni",
                                         "avx512vbmi", "avx512vpopcntdq"};

FailureOr<CPUTarget> resolveCPUTarget(StringRef name, std::string &error) {
  CPUTarget target;
  auto add = [&](ArrayRef<const char *> features) {
    target.features.insert(target.features.end(), features.begin(),
                           features.end());
  };
  if (name == "x86-64-v3") {
    target.tune = "x86-64-v3";
    add(kV3);
    return target;
  }
  if (name == "x86-64-v4") {
    target.tune = "x86-64-v4";
    target.vectorBits = 512;
    add(kV3);
    add(kV4);
    return target;
  }
  if (name != "native") {
    error = "expected cpu native, x86-64-v3 or x86-64-v4 but got '" +
            name.str() + "'";
    return failure();
  }
  target.tune = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto hasAll = [&](ArrayRef<const char *> features) {
    return llvm::all_of(features,
                        [&](const char *f) { return host.lookup(f); });
  };
  if (!hasAll(kV3)) {
    error = "expected a cpu with AVX2, FMA and BMI2 (x86-64-v3) but this one "
            "lacks some of them; compile with --cpu=x86-64-v3 for another "
            "machine";
    return failure();
  }
  add(kV3);
  if (!hasAll(kV4))
    return target;
  target.vectorBits = 512;
  add(kV4);
  for (const char *feature : kExtra)
    if (host.lookup(feature))
      target.features.push_back(feature);
  // Zen does as many vdpbf16ps a cycle as multiply-adds, others so few that
  // converting to f32 is faster.
  target.bf16Dots =
      host.lookup("avx512bf16") && StringRef(target.tune).starts_with("znver");
  return target;
}

LogicalResult chooseBF16Products(StringRef name, CPUTarget &target,
                                 std::string &error) {
  if (name == "fastest")
    return success();
  target.bf16Dots = name == "dots";
  if (name == "conversions")
    return success();
  if (!target.bf16Dots) {
    error = "expected --bf16 to be fastest, dots or conversions but got '" +
            name.str() + "'";
    return failure();
  }
  if (llvm::is_contained(target.features, "avx512bf16"))
    return success();
  error = "expected a cpu with AVX512-BF16 for --bf16=dots; --bf16=conversions "
          "runs on any";
  return failure();
}

static std::string featureString(const CPUTarget &target) {
  std::string text;
  for (const std::string &feature : target.features)
    text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CPUTarget &target, llvm::CodeGenOptLevel level,
              std::string &error) {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialised;
  llvm::Triple triple(kTriple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, "x86-64", featureString(target), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, level));
}

LogicalResult emitObject(ModuleOp kernels, const CPUTarget &target,
                         llvm::SmallVectorImpl<char> &object) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(target, llvm::CodeGenOptLevel::Default, error);
  if (!machine)
    return kernels.emitError()
           << "expected LLVM to support " << kTriple << " but got: " << error;
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  std::string features = featureString(target);
  for (llvm::Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("target-features", features);
    function.addFnAttr("tune-cpu", target.tune);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimise(*module, *machine);
  if (!writeCode(*module, *machine, llvm::CodeGenFileType::ObjectFile, object))
    return kernels.emitError("expected LLVM to write objects for ") << kTriple;
  return success();
}

LogicalResult emitDataObject(llvm::ArrayRef<DataSymbol> symbols,
                             llvm::SmallVectorImpl<char> &object,
                             std::string &error) {
  llvm::LLVMContext context;
  llvm::Module module("data", context);
  CPUTarget plain;
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(plain, llvm::CodeGenOptLevel::None, error);
  if (!machine)
    return failure();
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  llvm::Type *byte = llvm::Type::getInt8Ty(context);
  for (const DataSymbol &symbol : symbols) {
    llvm::Constant *value = llvm::ConstantDataArray::getRaw(
        StringRef(symbol.bytes.data(), symbol.bytes.size()),
        symbol.bytes.size(), byte);
    auto *global = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::ExternalLinkage, value, symbol.name);
    global->setAlignment(llvm::Align(symbol.alignment));
  }
  if (writeCode(module, *machine, llvm::CodeGenFileType::ObjectFile, object))
    return success();
  error = "expected LLVM to write objects for " + std::string(kTriple);
  return failure();
}

} // namespace mlir::sp
