//===- SPLogSumExpOps.td - Sums of exponentials while importing -*- tablegen -*-===//

#ifndef SP_IR_SPLOGSUMEXPOPS_TD
#define SP_IR_SPLOGSUMEXPOPS_TD

include "sp/IR/SPBase.td"
include "sp/StableHLO/Traits.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sp_LogSumExpOp : Sp_Op<"log_sum_exp", [Pure]> {
  let summary = "Logarithm of a sum of exponentials";
  let description = [{
    The logarithm of the sum over dimension `dim` of the exponentials of `scores`,
    however the program spells it. Exists inside Import only: it becomes `lse` of
    the attention with these scores, or the program's operations again.

    (C1) the result has the dimensions of the scores but `dim`, and their type.
    ```mlir
    %l = sp.log_sum_exp %s along 2 : tensor<4x8x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$scores, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$scores `along` $dim attr-dict `:` type($scores) `->` type($result)";
  let hasVerifier = 1;
}

def Sp_AddLogSumExpGradientOp : Sp_Op<"add_log_sum_exp_gradient", [Pure, HLO_Identity, AllTypesMatch<["gradient", "scores", "result"]>]> {
  let summary = "Gradient of scores with the part of their logarithm of sums";
  let description = [{
    `gradient + exp(scores - log_sum_exp(scores)) * cotangent`, with a cotangent
    for each sum over dimension `dim`. Exists inside Import only, as
    `sp.log_sum_exp` does: it becomes `d_lse` of the attention's gradients.

    (C1) the gradient has the scores' type, the cotangent their dimensions but `dim`.
    ```mlir
    %d = sp.add_log_sum_exp_gradient %ds by %c of %s along 2 : tensor<4x8x8xf32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$cotangent, AnyRankedTensor:$scores,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `by` $cotangent `of` $scores `along` $dim attr-dict `:` type($scores) `,` type($cotangent)
  }];
  let hasVerifier = 1;
}

#endif // SP_IR_SPLOGSUMEXPOPS_TD
