/// Compiles CUDA C++ of our own with the tools of the CUDA toolkit and of the
/// host, and keeps what they made for the next time.
#ifndef SP_LIB_CODEGEN_CUDACOMPILER_H
#define SP_LIB_CODEGEN_CUDACOMPILER_H

#include "sp/Codegen/Target.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::sp {

/// What a file of CUDA C++ becomes, or one of PTX.
enum class CudaForm {
  Image,     ///< a cubin, by nvcc and ptxas
  Ptx,       ///< its text
  Host,      ///< an ELF object for x86-64-v3, with SPRT_EMULATED
  Assembled, ///< a cubin of PTX
};

struct CudaOutput {
  llvm::SmallVector<char, 0> bytes;
  std::string log; ///< what the tools said: registers, spills, remarks
};

/// Compiles `source`, which may include the headers of `sprt/cuda`. nvcc is
/// looked for in $CUDA_HOME/bin, on the PATH and in /usr/local/cuda/bin; the
/// host's compiler is $CXX or c++. Results are kept by content in
/// $XDG_CACHE_HOME/sp-mlir or ~/.cache/sp-mlir. On failure `error` says why.
/// May be called from several threads.
LogicalResult compileCuda(llvm::StringRef source, CudaForm form,
                          const CudaTarget &target, CudaOutput &output,
                          std::string &error);

/// The bitcode of the toolkit's library of mathematics, or nothing.
std::string findLibdevice();

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDACOMPILER_H
