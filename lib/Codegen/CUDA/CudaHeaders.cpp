// The headers of sprt/cuda as this compiler was built with: what kernels are
// compiled from, wherever the compiler is installed.

#include "CUDA/CudaHeaders.h"

namespace mlir::sp {

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char kAttentionArguments[] = {
#embed "sprt/cuda/AttentionArguments.h"
};
static const char kAttendWork[] = {
#embed "sprt/cuda/AttendWork.cuh"
};
static const char kAttentionForward[] = {
#embed "sprt/cuda/AttentionForward.cuh"
};
static const char kAttentionPlain[] = {
#embed "sprt/cuda/AttentionPlain.cuh"
};
static const char kForwardConsumer[] = {
#embed "sprt/cuda/ForwardConsumer.cuh"
};
static const char kForwardShape[] = {
#embed "sprt/cuda/ForwardShape.h"
};
static const char kForwardTiles[] = {
#embed "sprt/cuda/ForwardTiles.cuh"
};
static const char kKeyBlocks[] = {
#embed "sprt/cuda/KeyBlocks.cuh"
};
static const char kPlainShape[] = {
#embed "sprt/cuda/PlainShape.h"
};
static const char kPtx[] = {
#embed "sprt/cuda/Ptx.cuh"
};
static const char kPtxEmulation[] = {
#embed "sprt/cuda/PtxEmulation.h"
};
static const char kRegisterPool[] = {
#embed "sprt/cuda/RegisterPool.h"
};
static const char kScoreMath[] = {
#embed "sprt/cuda/ScoreMath.cuh"
};
static const char kSoftmaxState[] = {
#embed "sprt/cuda/SoftmaxState.cuh"
};
static const char kTensorMap[] = {
#embed "sprt/cuda/TensorMap.h"
};
static const char kBarriers[] = {
#embed "sprt/cuda/emulation/Barriers.h"
};
static const char kBlock[] = {
#embed "sprt/cuda/emulation/Block.h"
};
static const char kElements[] = {
#embed "sprt/cuda/emulation/Elements.h"
};
static const char kFibers[] = {
#embed "sprt/cuda/emulation/Fibers.h"
};
static const char kFragments[] = {
#embed "sprt/cuda/emulation/Fragments.h"
};
static const char kProducts[] = {
#embed "sprt/cuda/emulation/Products.h"
};
static const char kRegisters[] = {
#embed "sprt/cuda/emulation/Registers.h"
};
static const char kSharedMemory[] = {
#embed "sprt/cuda/emulation/SharedMemory.h"
};

template <size_t N>
static CudaHeader header(llvm::StringRef path, const char (&text)[N]) {
  return {path, llvm::StringRef(text, N)};
}

llvm::ArrayRef<CudaHeader> cudaHeaders() {
  static const CudaHeader headers[] = {
      header("sprt/cuda/AttentionArguments.h", kAttentionArguments),
      header("sprt/cuda/AttendWork.cuh", kAttendWork),
      header("sprt/cuda/AttentionForward.cuh", kAttentionForward),
      header("sprt/cuda/AttentionPlain.cuh", kAttentionPlain),
      header("sprt/cuda/ForwardConsumer.cuh", kForwardConsumer),
      header("sprt/cuda/ForwardShape.h", kForwardShape),
      header("sprt/cuda/ForwardTiles.cuh", kForwardTiles),
      header("sprt/cuda/KeyBlocks.cuh", kKeyBlocks),
      header("sprt/cuda/PlainShape.h", kPlainShape),
      header("sprt/cuda/Ptx.cuh", kPtx),
      header("sprt/cuda/PtxEmulation.h", kPtxEmulation),
      header("sprt/cuda/RegisterPool.h", kRegisterPool),
      header("sprt/cuda/ScoreMath.cuh", kScoreMath),
      header("sprt/cuda/SoftmaxState.cuh", kSoftmaxState),
      header("sprt/cuda/TensorMap.h", kTensorMap),
      header("sprt/cuda/emulation/Barriers.h", kBarriers),
      header("sprt/cuda/emulation/Block.h", kBlock),
      header("sprt/cuda/emulation/Elements.h", kElements),
      header("sprt/cuda/emulation/Fibers.h", kFibers),
      header("sprt/cuda/emulation/Fragments.h", kFragments),
      header("sprt/cuda/emulation/Products.h", kProducts),
      header("sprt/cuda/emulation/Registers.h", kRegisters),
      header("sprt/cuda/emulation/SharedMemory.h", kSharedMemory),
  };
  return headers;
}

} // namespace mlir::sp
