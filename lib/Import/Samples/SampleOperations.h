/// What single operations make of samples, which need nothing but these.
#ifndef SP_LIB_IMPORT_SAMPLEOPERATIONS_H
#define SP_LIB_IMPORT_SAMPLEOPERATIONS_H

#include "Samples/SamplePositions.h"

#include "sp/StableHLO/ElementFunctions.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// What a node's operands are there; null if that is not known.
using SampleOperands = llvm::function_ref<const Samples *(const Node *)>;

/// What an operation makes of single numbers; null where it has no such
/// function.
ElementFunction sampledFunction(Operation *op);

// `result` has the node's shape and is filled. False where an operation cannot
// be evaluated.

/// A constant or iota at the positions.
bool sampleConstant(const SamplePositions &positions, const Node *node,
                    Samples &result);
/// Rows of a table, which is drawn if it is no constant, at the indices `rows`.
bool lookUpSamples(const SamplePositions &positions, const Node *node,
                   const Samples &rows, uint64_t seed, Samples &result);
bool reduceSamples(stablehlo::ReduceOp reduce, const Samples &input,
                   const Samples &init, Samples &result);
void contractSamples(Operation *op, const Samples &left, const Samples &right,
                     Samples &result);
/// A concatenation or pad.
bool joinSamples(const SamplePositions &positions, const Node *node,
                 SampleOperands operandOf, Samples &result);
/// What only moves or repeats elements.
bool moveSamples(const Node *node, SampleOperands operandOf, Samples &result);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEOPERATIONS_H
