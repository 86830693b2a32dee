// Kernels as commands ask for them: fused ones from StableHLO for the CPU, and
// attention for the CPU or, from templates, for GPUs.

#include "KernelTable.h"

#include "sp/Codegen/AttentionKernel.h"
#include "sp/Codegen/CubinCheck.h"
#include "sp/Codegen/CudaKernels.h"
#include "sp/Codegen/KernelEmission.h"
#include "sp/Codegen/LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ThreadPool.h"

namespace mlir::sp {

//===----------------------------------------------------------------------===//
// What all targets share
//===----------------------------------------------------------------------===//

KernelTable::KernelTable(ModuleOp module) : firstLaunch(module.getLoc()) {
  module.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect,
                    cf::ControlFlowDialect, func::FuncDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect, x86vector::X86VectorDialect>();
  kernels = ModuleOp::create(module.getLoc());
}

KernelTable::~KernelTable() { kernels->erase(); }

LogicalResult KernelTable::addAll(func::FuncOp func) {
  WalkResult walked =
      func.getBody().walk([&](Operation *op) -> WalkResult { return add(op); });
  return failure(walked.wasInterrupted());
}

std::string KernelTable::nameOf(Operation *op) const {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getKernel().str();
  return attentionName(cast<AttendOp>(op));
}

LogicalResult KernelTable::add(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    if (known.contains(launch.getKernel()))
      return success();
    auto source = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, launch.getKernelAttr());
    if (kernels.getBody()->empty())
      firstLaunch = launch.getLoc();
    FailureOr<KernelShape> shape = emitKernel(source, kernels);
    if (failed(shape))
      return failure();
    KernelInfo &info = known[launch.getKernel()];
    info.symbol = launch.getKernel().str();
    info.tiles = shape->tiles;
    info.scratchBytes = shape->scratchBytes;
    return success();
  }
  auto attend = dyn_cast<AttendOp>(op);
  if (!attend)
    return success();
  FailureOr<KernelInfo> info = addAttention(attend);
  if (failed(info))
    return failure();
  known.try_emplace(info->symbol, *info);
  return success();
}

int64_t KernelTable::scratchBytes() const {
  int64_t most = 0;
  for (const auto &entry : known)
    most = std::max(most, entry.second.scratchBytes);
  return most;
}

LogicalResult KernelTable::emitHost(const CPUTarget &target,
                                    EmittedProgram &program) {
  if (kernels.getBody()->empty())
    return success();
  if (failed(lowerToLLVM(kernels)))
    return failure();
  return emitObject(kernels, target, program.objects.emplace_back());
}

namespace {

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

class CpuKernelTable : public KernelTable {
public:
  CpuKernelTable(ModuleOp module, const CPUTarget &target)
      : KernelTable(module), target(target) {}

  FailureOr<std::string> print(bool) override {
    return kernels.emitError("expected --target=cuda for the source of kernels "
                             "for GPUs");
  }
  LogicalResult emitInto(EmittedProgram &program) override {
    program.kernels = known.size();
    program.features = target.features;
    return emitHost(target, program);
  }

protected:
  std::string attentionName(AttendOp op) const override {
    return attentionKernelName(configOf(op));
  }

  FailureOr<KernelInfo> addAttention(AttendOp op) override {
    AttentionKernelConfig config = configOf(op);
    if (failed(verifyAttentionKernel(op.getLoc(), config)))
      return failure();
    buildAttentionKernel(kernels, op.getLoc(), config);
    KernelInfo info;
    info.symbol = attentionKernelName(config);
    info.scratchBytes = attentionScratchBytes(config);
    info.queryBlock = attentionQueryBlock(config);
    return info;
  }

private:
  AttentionKernelConfig configOf(AttendOp op) const {
    AttentionKernelConfig config;
    config.headSize = op.getQuery().getType().getDimSize(3);
    config.valueSize = op.getValue().getType().getDimSize(3);
    config.elementType = op.getQuery().getType().getElementType();
    config.launchKeys = op.getKey().getType().getDimSize(1);
    config.vectorBits = target.vectorBits;
    config.bf16Dots = target.bf16Dots;
    if (op.getScore())
      config.score = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, op.getScoreAttr());
    config.perQuery = op.getPerQuery().size();
    config.perKey = op.getPerKey().size();
    config.perHead = op.getPerHead().size();
    config.pair = op.getPair().size();
    return config;
  }

  const CPUTarget &target;
};

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// What ptxas says of a kernel, and what stands in its code: numbers for those
/// who asked, and a warning where it is slower than it was written to be. Fails
/// where the code is wrong.
LogicalResult checkImage(Location loc, StringRef kernel,
                         const CudaOutput &image, int64_t sharedBytes) {
  std::string error;
  FailureOr<CubinCensus> census = takeCensus(image.bytes, kernel, error);
  if (failed(census))
    return emitError(loc) << error;
  StringRef log = image.log;
  auto find = [&](StringRef pattern) {
    SmallVector<StringRef, 2> found;
    return llvm::Regex(pattern).match(log, &found) ? found[1] : StringRef();
  };
  auto number = [&](StringRef pattern) {
    int64_t value = 0;
    (void)find(pattern).getAsInteger(10, value);
    return value;
  };
  int64_t spilled = number("([0-9]+) bytes spill stores");
  remark::passed(
      loc, remark::RemarkOpts::name("KernelCompiled").category("sp-codegen"))
      << "kernel " << kernel << ": "
      << remark::metric("registers", number("Used ([0-9]+) registers"))
      << " registers, " << remark::metric("sharedBytes", sharedBytes)
      << " bytes of shared memory, " << remark::metric("spilledBytes", spilled)
      << " bytes spilled, " << remark::metric("products", census->products)
      << " products, "
      << remark::metric("overlappedPowers", census->overlappedPowers)
      << " powers taken meanwhile";
  if (spilled > 0)
    emitWarning(loc) << "kernel " << kernel << " spills " << spilled
                     << " bytes of registers";
  StringRef remark = find("(\\(C75[0-9]+\\)[^\n]*)");
  if (!remark.empty())
    emitWarning(loc) << "kernel " << kernel << ": " << remark;
  if (census->hazards.empty())
    return success();
  return emitError(loc) << "ptxas made wrong code of kernel " << kernel << ": "
                        << census->hazards.front()
                        << "; ptxas 13.3 or later does not";
}

class CudaKernelTable : public KernelTable {
public:
  CudaKernelTable(ModuleOp module, const Target &target)
      : KernelTable(module), target(target) {}

  LogicalResult emitInto(EmittedProgram &program) override;
  FailureOr<std::string> print(bool asPtx) override;

protected:
  std::string attentionName(AttendOp op) const override {
    return cudaAttentionName(*chooseCudaAttention(op));
  }

  FailureOr<KernelInfo> addAttention(AttendOp op) override {
    FailureOr<CudaAttention> attention = chooseCudaAttention(op);
    if (failed(attention))
      return failure();
    KernelInfo info;
    info.symbol = cudaAttentionName(*attention);
    info.queryBlock = attention->queryBlock();
    info.keyBlock = attention->keyBlock();
    info.threads = attention->threads();
    info.sharedBytes = attention->sharedBytes();
    if (!known.contains(info.symbol))
      attentions.push_back({op.getLoc(),
                            info.symbol,
                            info.sharedBytes,
                            cudaSource(*attention),
                            {},
                            {},
                            {}});
    return info;
  }

private:
  struct Attention {
    Location loc;
    std::string symbol;
    int64_t sharedBytes;
    std::string source;
    CudaOutput image, host;
    std::string error;
  };

  void compile(Attention &attention) const {
    if (failed(compileCuda(attention.source, CudaForm::Image, *target.cuda,
                           attention.image, attention.error)))
      return;
    if (target.cuda->emulation)
      (void)compileCuda(attention.source, CudaForm::Host, *target.cuda,
                        attention.host, attention.error);
  }

  const Target &target;
  std::vector<Attention> attentions;
};

FailureOr<std::string> CudaKernelTable::print(bool asPtx) {
  std::string text;
  for (Attention &attention : attentions) {
    if (!asPtx) {
      text += "// " + attention.symbol + "\n" + attention.source + "\n";
      continue;
    }
    if (failed(compileCuda(attention.source, CudaForm::Ptx, *target.cuda,
                           attention.image, attention.error)))
      return emitError(attention.loc) << attention.error;
    text.append(attention.image.bytes.begin(), attention.image.bytes.end());
  }
  return text;
}

LogicalResult CudaKernelTable::emitInto(EmittedProgram &program) {
  program.kernels = known.size();
  program.isCuda = true;
  if (!target.cuda->emulation && !kernels.getBody()->empty())
    return emitError(firstLaunch)
           << "expected attention only, because other kernels are not "
              "generated for GPUs yet; add --emulation to run the program on "
              "an emulated one";
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  for (Attention &attention : attentions)
    pool.async([this, &attention] { compile(attention); });
  pool.wait();
  for (Attention &attention : attentions) {
    if (!attention.error.empty())
      return emitError(attention.loc) << attention.error;
    if (failed(checkImage(attention.loc, attention.symbol, attention.image,
                          attention.sharedBytes)))
      return failure();
    program.images.push_back({"sprt_image_" + attention.symbol,
                              std::move(attention.image.bytes),
                              target.cuda->architecture});
    if (target.cuda->emulation)
      program.objects.push_back(std::move(attention.host.bytes));
  }
  if (!target.cuda->emulation)
    return success();
  // Whatever is emulated needs x86-64-v3, which every target has.
  program.features = target.cpu.features;
  return emitHost(target.cpu, program);
}

} // namespace

std::unique_ptr<KernelTable> makeKernelTable(ModuleOp module,
                                             const Target &target) {
  if (target.cuda)
    return std::make_unique<CudaKernelTable>(module, target);
  return std::make_unique<CpuKernelTable>(module, target.cpu);
}

} // namespace mlir::sp
