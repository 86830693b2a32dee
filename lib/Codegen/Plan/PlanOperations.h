/// Attention and communication as operations of a plan.
#ifndef SP_LIB_CODEGEN_PLANOPERATIONS_H
#define SP_LIB_CODEGEN_PLANOPERATIONS_H

#include "Plan/PlanExpressions.h"

namespace mlir::sp {

/// With the kernels that it calls.
sprt::plan::AttendT writeAttend(AttendOp op, PlanExpressions &expressions,
                                KernelLookup lookup);
sprt::plan::AttendBackwardT writeAttendBackward(AttendBackwardOp op,
                                                PlanExpressions &expressions,
                                                KernelLookup lookup);

/// What a start moves, between whom, into which places.
void writeMove(CommunicationOpInterface start, PlanExpressions &expressions,
               sprt::plan::CommandT &command);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLANOPERATIONS_H
