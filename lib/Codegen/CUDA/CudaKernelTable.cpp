// Kernels for GPUs: attention from templates, each an image of its own, and all
// others, which StableHLO becomes on the way over NVVM, in one.

#include "CUDA/CudaKernelTable.h"

#include "CUDA/CubinCheck.h"
#include "CUDA/CudaCompiler.h"
#include "CUDA/CudaKernels.h"
#include "CUDA/GridEmission.h"
#include "Fusion/KernelEmission.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ThreadPool.h"

namespace mlir::sp {

namespace {

/// A kernel, and where it was asked for.
struct KernelAt {
  Location loc;
  std::string symbol;
  int64_t sharedBytes;
};

/// What ptxas says of a kernel, and what stands in its code: numbers for those
/// who asked, and a warning where it is slower than it was written to be. Fails
/// where the code is wrong.
LogicalResult checkImage(const KernelAt &at, const CudaOutput &image) {
  const auto &[loc, kernel, sharedBytes] = at;
  std::string error;
  FailureOr<CubinCensus> census = takeCensus(image.bytes, kernel, error);
  if (failed(census))
    return emitError(loc) << error;
  // What is said of this one of several.
  StringRef log = image.log;
  log = log.substr(log.find("entry function '" + kernel + "'"));
  log = log.take_front(log.find("entry function '", 1));
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
  {
    auto said = remark::passed(
        loc, remark::RemarkOpts::name("KernelCompiled").category("sp-codegen"));
    said << "kernel " << kernel << ": "
         << remark::metric("registers", number("Used ([0-9]+) registers"))
         << " registers, " << remark::metric("sharedBytes", sharedBytes)
         << " bytes of shared memory, "
         << remark::metric("spilledBytes", spilled) << " bytes spilled";
    if (census->products > 0)
      said << ", " << remark::metric("products", census->products)
           << " products, "
           << remark::metric("overlappedPowers", census->overlappedPowers)
           << " powers taken meanwhile, "
           << remark::metric("stepInstructions", census->stepInstructions)
           << " other instructions a step";
  }
  if (spilled > 0)
    emitWarning(loc) << "kernel " << kernel << " spills " << spilled
                     << " bytes of registers";
  StringRef remark = find("(\\(C75[0-9]+\\)[^\n]*)");
  if (!remark.empty())
    emitWarning(loc) << "kernel " << kernel << ": " << remark;
  std::string tooMany = census->overSubscription();
  if (!tooMany.empty())
    return emitError(loc) << "kernel " << kernel << ": " << tooMany;
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
  FailureOr<KernelInfo> addLaunch(func::FuncOp source) override {
    FailureOr<GridShape> shape = emitGridKernel(source, kernels);
    if (failed(shape))
      return failure();
    KernelInfo info;
    info.tiles = shape->blocks;
    info.scratchBytes = shape->blocks * shape->scratchBytes;
    info.threads = shape->threads;
    info.sharedBytes = shape->sharedBytes;
    grids.push_back(
        {source.getLoc(), source.getName().str(), info.sharedBytes});
    return info;
  }

  FailureOr<KernelInfo> addAttention(AttendOp op) override {
    FailureOr<CudaAttention> attention = chooseCudaAttention(op);
    if (failed(attention))
      return failure();
    KernelInfo portable =
        add(op.getLoc(), portableAttention(*attention), &Attention::isPortable);
    known.try_emplace(portable.symbol, portable);
    KernelInfo info = add(op.getLoc(), *attention, &Attention::isNative);
    if (portable.symbol != info.symbol)
      info.portable = portable.symbol;
    if (attention->order == CudaOrder::LightestFirst)
      info.order = sprt::plan::BlockOrder::lightestFirst;
    return info;
  }

  FailureOr<KernelInfo> addBackward(AttendBackwardOp op) override {
    return emitError(op.getLoc()) << "expected no gradient of attention with "
                                     "--target=cuda; leave --target out";
  }

private:
  struct Attention {
    KernelAt at;
    std::string source;
    bool isNative = false, isPortable = false; ///< a cubin; PTX
    CudaOutput image = {}, ptx = {}, host = {};
    std::string error = {};
  };

  /// Asks for one form of a kernel's code.
  KernelInfo add(Location loc, const CudaAttention &attention,
                 bool Attention::*form) {
    KernelInfo info;
    info.symbol = cudaAttentionName(attention);
    info.queryBlock = attention.queryBlock();
    info.keyBlock = attention.keyBlock();
    info.threads = attention.threads();
    info.sharedBytes = attention.sharedBytes();
    auto known = llvm::find_if(attentions, [&](const Attention &each) {
      return each.at.symbol == info.symbol;
    });
    if (known == attentions.end()) {
      attentions.push_back(
          {{loc, info.symbol, info.sharedBytes}, cudaSource(attention)});
      known = attentions.end() - 1;
    }
    *known.*form = true;
    return info;
  }

  /// The PTX of `kernels`, which are lowered.
  FailureOr<std::string> writeGrids();
  LogicalResult emitGrids(EmittedProgram &program);

  void compile(Attention &attention) const {
    auto make = [&](CudaForm form, const CudaTarget &target,
                    CudaOutput &output) {
      return compileCuda(attention.source, form, target, output,
                         attention.error);
    };
    CudaTarget portable = *target.cuda;
    portable.architecture = kPortable;
    if (attention.isNative &&
        failed(make(CudaForm::Image, *target.cuda, attention.image)))
      return;
    if (attention.isPortable &&
        failed(make(CudaForm::Ptx, portable, attention.ptx)))
      return;
    if (target.cuda->emulation)
      (void)make(CudaForm::Host, *target.cuda, attention.host);
  }

  /// Adds PTX, for GPUs that have no machine code here.
  static void addText(EmittedProgram &program, std::string symbol,
                      ArrayRef<char> text) {
    SmallVector<char, 0> bytes(text);
    bytes.push_back('\0'); // the driver reads a string
    program.images.push_back(
        {std::move(symbol), std::move(bytes), kPortable.str()});
  }

  /// The first GPUs that have bf16.
  static constexpr StringRef kPortable = "compute_80";

  const Target &target;
  std::vector<Attention> attentions;
  std::vector<KernelAt> grids;
};

FailureOr<std::string> CudaKernelTable::print(bool asPtx) {
  std::string text;
  for (Attention &attention : attentions) {
    if (!attention.isNative)
      continue;
    if (!asPtx) {
      text += "// " + attention.at.symbol + "\n" + attention.source + "\n";
      continue;
    }
    if (failed(compileCuda(attention.source, CudaForm::Ptx, *target.cuda,
                           attention.image, attention.error)))
      return emitError(attention.at.loc) << attention.error;
    text.append(attention.image.bytes.begin(), attention.image.bytes.end());
  }
  if (!asPtx || kernels.getBody()->empty())
    return text;
  FailureOr<std::string> grids = writeGrids();
  if (failed(grids))
    return failure();
  return text + *grids;
}

FailureOr<std::string> CudaKernelTable::writeGrids() {
  return emitPtx(kernels, findLibdevice());
}

/// A cubin and, for GPUs that come later, the text it was made of.
LogicalResult CudaKernelTable::emitGrids(EmittedProgram &program) {
  if (kernels.getBody()->empty())
    return success();
  OwningOpRef<ModuleOp> host;
  if (target.cuda->emulation)
    host = kernels.clone();
  FailureOr<std::string> text = writeGrids();
  if (failed(text))
    return failure();
  CudaOutput cubin;
  std::string error;
  if (failed(
          compileCuda(*text, CudaForm::Assembled, *target.cuda, cubin, error)))
    return kernels.emitError() << error;
  for (const KernelAt &grid : grids)
    if (failed(checkImage(grid, cubin)))
      return failure();
  program.images.push_back(
      {"sprt_image_grids", std::move(cubin.bytes), target.cuda->architecture});
  addText(program, "sprt_ptx_grids", ArrayRef(text->data(), text->size()));
  if (!host)
    return success();
  emulateGrids(*host);
  return emitHost(*host, target.cpu, program);
}

LogicalResult CudaKernelTable::emitInto(EmittedProgram &program) {
  program.kernels = known.size();
  program.isCuda = true;
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  for (Attention &attention : attentions)
    pool.async([this, &attention] { compile(attention); });
  pool.wait();
  for (Attention &attention : attentions) {
    if (!attention.error.empty())
      return emitError(attention.at.loc) << attention.error;
    if (attention.isNative) {
      if (failed(checkImage(attention.at, attention.image)))
        return failure();
      program.images.push_back({"sprt_image_" + attention.at.symbol,
                                std::move(attention.image.bytes),
                                target.cuda->architecture});
    }
    if (attention.isPortable)
      addText(program, "sprt_ptx_" + attention.at.symbol, attention.ptx.bytes);
    if (target.cuda->emulation)
      program.objects.push_back(std::move(attention.host.bytes));
  }
  // Whatever is emulated needs x86-64-v3, which every target has.
  if (target.cuda->emulation)
    program.features = target.cpu.features;
  return emitGrids(program);
}

} // namespace

std::unique_ptr<KernelTable> makeCudaKernelTable(ModuleOp module,
                                                 const Target &target) {
  return std::make_unique<CudaKernelTable>(module, target);
}

} // namespace mlir::sp
