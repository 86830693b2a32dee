/// From a module with a kernel to its address.
#ifndef SP_TEST_CODEGEN_ATTENTIONCOMPILE_H
#define SP_TEST_CODEGEN_ATTENTIONCOMPILE_H

#include "AttentionHarness.h"
#include "mlir/IR/BuiltinOps.h"

namespace attention_test {

mlir::Type elementType(mlir::MLIRContext &context, Element element);

/// Compiles the module for machines with such vectors and loads it; null where
/// that does not work.
sprt_kernel compileModule(mlir::ModuleOp module, const std::string &symbol,
                          int64_t vectorBits, bool bf16Dots);

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONCOMPILE_H
