/// What of a model a command is about, for people who read a trace.
#ifndef SP_LIB_CODEGEN_PLAN_SUBJECTS_H
#define SP_LIB_CODEGEN_PLAN_SUBJECTS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace mlir::sp {

/// Of what moves blocks of an attention, its name; else the name of the first
/// argument of the program that the operation reads, as it is or as it has been
/// moved; or "". Attention bears a name itself.
std::string subjectOf(Operation *op);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLAN_SUBJECTS_H
