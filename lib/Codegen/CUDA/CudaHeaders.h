/// The headers that kernels for GPUs include, as text.
#ifndef SP_LIB_CODEGEN_CUDAHEADERS_H
#define SP_LIB_CODEGEN_CUDAHEADERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::sp {

struct CudaHeader {
  llvm::StringRef path; ///< as it is included
  llvm::StringRef text;
};

llvm::ArrayRef<CudaHeader> cudaHeaders();

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_CUDAHEADERS_H
