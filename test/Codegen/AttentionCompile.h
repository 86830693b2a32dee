/// From a module with a kernel to its address.
#ifndef SP_TEST_CODEGEN_ATTENTIONCOMPILE_H
#define SP_TEST_CODEGEN_ATTENTIONCOMPILE_H

#include "AttentionHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attention_test {

mlir::Type elementType(mlir::MLIRContext &context, Element element);

/// Parses the function @score_0 of a text; null where that does not work.
mlir::OwningOpRef<mlir::ModuleOp> parseScore(mlir::MLIRContext &context,
                                             const std::string &text);

/// Sets the score function of a kernel's configuration to the one in `scores`.
template <typename Config, typename KernelConfig>
void setScore(const Config &config, mlir::ModuleOp scores,
              KernelConfig &kernel) {
  kernel.score = scores.lookupSymbol<mlir::func::FuncOp>("score_0");
  kernel.perQuery = config.perQuery;
  kernel.perKey = config.perKey;
  kernel.perHead = config.perHead;
  kernel.pair = config.pair;
}

/// Compiles the module for machines with such vectors and loads it; null where
/// that does not work.
sprt_kernel compileModule(mlir::ModuleOp module, const std::string &symbol,
                          int64_t vectorBits, bool bf16Dots);

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONCOMPILE_H
