// Kernels for CPUs: attention from builders, all others from StableHLO.

#include "CPU/CpuKernelTable.h"

#include "CPU/Attention/Backward/AttentionBackwardKernel.h"
#include "CPU/Attention/Forward/AttentionKernel.h"
#include "Fusion/KernelEmission.h"

namespace mlir::sp {

namespace {

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
    return emitHost(kernels, target, program);
  }

protected:
  FailureOr<KernelInfo> addLaunch(func::FuncOp source) override {
    FailureOr<KernelShape> shape = emitKernel(source, kernels);
    if (failed(shape))
      return failure();
    KernelInfo info;
    info.tiles = shape->tiles;
    info.scratchBytes = shape->scratchBytes;
    return info;
  }

  FailureOr<KernelInfo> addAttention(AttendOp op) override {
    AttentionKernelConfig config = configOf<AttentionKernelConfig>(op);
    config.keepsSums = op.keepsSums();
    config.launchKeys = op.getKey().getType().getDimSize(1);
    if (failed(verifyAttentionKernel(op.getLoc(), config)))
      return failure();
    buildAttentionKernel(kernels, op.getLoc(), config);
    KernelInfo info;
    info.symbol = attentionKernelName(config);
    info.scratchBytes = attentionScratchBytes(config);
    info.queryBlock = attentionQueryBlock(config);
    return info;
  }

  FailureOr<KernelInfo> addBackward(AttendBackwardOp op) override {
    AttentionBackwardConfig config = configOf<AttentionBackwardConfig>(op);
    for (Type type : op.getDTerms().getTypes()) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
      config.termGradients.push_back(
          {/*perQuery=*/shape[1] > 1, /*perKey=*/shape[3] > 1});
    }
    if (failed(verifyAttentionBackwardKernel(op.getLoc(), config)))
      return failure();
    buildAttentionBackwardKernel(kernels, op.getLoc(), config);
    KernelInfo info;
    info.symbol = attentionBackwardKernelName(config);
    info.scratchBytes = attentionBackwardScratchBytes(config);
    return info;
  }

private:
  /// What an attention and its gradients say alike.
  template <typename ConfigT, typename OpT> ConfigT configOf(OpT op) const {
    ConfigT config;
    config.headSize = op.getQuery().getType().getDimSize(3);
    config.valueSize = op.getValue().getType().getDimSize(3);
    config.elementType = op.getQuery().getType().getElementType();
    config.vectorBits = target.vectorBits;
    config.bf16Dots = target.bf16Dots;
    if (op.getScore())
      config.score = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, op.getScoreAttr());
    config.perQuery = op.getTermsOf(TermKind::PerQuery).size();
    config.perKey = op.getTermsOf(TermKind::PerKey).size();
    config.perHead = op.getTermsOf(TermKind::PerHead).size();
    config.pair = op.getTermsOf(TermKind::Pair).size();
    return config;
  }

  const CPUTarget &target;
};

} // namespace

std::unique_ptr<KernelTable> makeCpuKernelTable(ModuleOp module,
                                                const Target &target) {
  return std::make_unique<CpuKernelTable>(module, target.cpu);
}

} // namespace mlir::sp
