//===- RankProgram.h - One rank's program on all ranks ---------*- C++ -*-===//
//
// What `sp-interpret` does after each stage:
//
//   Import, Plan                  @main is global: evaluateFunction
//   Partition, Schedule, Memory   @main is that of every rank: evaluateOnRanks
//
// Where Memory places values is not looked at.
//
//===----------------------------------------------------------------------===//
#ifndef SP_INTERPRETER_RANKPROGRAM_H
#define SP_INTERPRETER_RANKPROGRAM_H

#include "sp/Interpreter/Interpreter.h"

namespace mlir::interpreter {

/// Whether a function is the program of each rank: its results say how they are
/// dealt (`sp.sharding`), which they do from Partition on.
bool isRankProgram(func::FuncOp function);

/// The types of the global arguments of such a function, or a diagnostic where
/// an argument does not say how it is dealt, or is dealt otherwise.
FailureOr<SmallVector<RankedTensorType>>
globalArgumentTypes(func::FuncOp function);

/// Evaluates such a function on all ranks of the module's `sp.mesh`, operation
/// by operation. Arguments and results are global. Each rank is dealt its rows
/// of the arguments; its other rows, which are padding, are NaN, or the
/// greatest integer, so that a program that reads them shows. What several
/// ranks hold of a result has to agree. All else is as evaluateFunction says.
FailureOr<SmallVector<Tensor>>
evaluateOnRanks(func::FuncOp function, ArrayRef<Tensor> arguments,
                const EvaluationOptions &options = {});

} // namespace mlir::interpreter

#endif // SP_INTERPRETER_RANKPROGRAM_H
