/// What programs are compiled for.
#ifndef SP_CODEGEN_TARGET_H
#define SP_CODEGEN_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::sp {

/// What `--cpu` names: the machine that kernels are compiled for.
struct CPUTarget {
  std::string tune; ///< processor whose scheduling model is used
  std::vector<std::string> features; ///< LLVM names: avx2, fma, avx512f, ...
  unsigned vectorBits = 256;         ///< preferred vector width
  bool bf16Dots = false;             ///< attention multiplies bf16 in pairs
};

/// Resolves `native`, `x86-64-v3` or `x86-64-v4`; fails, with a text in
/// `error`, for any other name. `features` is complete: the code uses nothing
/// else, so a machine that has them can run it.
FailureOr<CPUTarget> resolveCPUTarget(StringRef name, std::string &error);

/// How attention multiplies bf16, by the name that `--bf16` takes: `dots`,
/// which need AVX512-BF16; `conversions` to f32, on any machine; `fastest`
/// leaves what resolveCPUTarget found. Fails with a text in `error`.
LogicalResult chooseBF16Products(StringRef name, CPUTarget &target,
                                 std::string &error);

/// What `--target=cuda` is told.
struct CudaTarget {
  std::string architecture = "sm_90a";
  bool emulation = false; ///< builds for the CPU as well
  bool useCache = true;
};

/// What kernels are generated for.
struct Target {
  CPUTarget cpu; ///< with `cuda`: what emulates it
  std::optional<CudaTarget> cuda;
};

} // namespace mlir::sp

#endif // SP_CODEGEN_TARGET_H
