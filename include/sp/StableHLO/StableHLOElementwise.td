//===- StableHLOElementwise.td - Element-wise operations ------------------===//

#ifndef SP_STABLEHLO_ELEMENTWISE
#define SP_STABLEHLO_ELEMENTWISE

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sp/StableHLO/StableHLOAttrs.td"

class HLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Unary: operand and result of one type
//===----------------------------------------------------------------------===//

class HLO_Unary<string mnemonic, string theSummary, Type tensor = HLO_Tensor,
                string element = "f32", list<Trait> traits = []>
    : HLO_Op<mnemonic, [Pure, HLO_Elementwise, SameOperandsAndResultType]
                       # traits> {
  let summary = theSummary;
  let description = "Example: `%1 = stablehlo." # mnemonic #
                    " %0 : tensor<8x" # element # ">`.";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:`
      custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

/// An elementary function, which may carry a wished accuracy.
class HLO_UnaryMath<string mnemonic, string theSummary,
                    Type tensor = HLO_FloatOrComplexTensor>
    : HLO_Unary<mnemonic, theSummary, tensor, "f32", [HLO_Costly]> {
  let arguments = (ins tensor:$operand,
                       OptionalAttr<HLO_ResultAccuracy>:$result_accuracy);
  let builders = [OpBuilder<(ins "Value":$operand), [{
    build($_builder, $_state, operand.getType(), operand, ResultAccuracyAttr());
  }]>];
}

def HLO_CbrtOp : HLO_UnaryMath<"cbrt", "Cube root">;
def HLO_CosineOp : HLO_UnaryMath<"cosine", "Cosine">;
def HLO_ExpOp : HLO_UnaryMath<"exponential", "Exponential">;
def HLO_Expm1Op : HLO_UnaryMath<"exponential_minus_one", "exp(x) - 1">;
def HLO_LogOp : HLO_UnaryMath<"log", "Natural logarithm">;
def HLO_Log1pOp : HLO_UnaryMath<"log_plus_one", "log(1 + x)">;
def HLO_LogisticOp : HLO_UnaryMath<"logistic", "1 / (1 + exp(-x))">;
def HLO_RsqrtOp : HLO_UnaryMath<"rsqrt", "Reciprocal square root">;
def HLO_SineOp : HLO_UnaryMath<"sine", "Sine">;
def HLO_SqrtOp : HLO_UnaryMath<"sqrt", "Square root">;
def HLO_TanOp : HLO_UnaryMath<"tan", "Tangent">;
def HLO_TanhOp : HLO_UnaryMath<"tanh", "Hyperbolic tangent">;

def HLO_CeilOp : HLO_Unary<"ceil", "Round up", HLO_FloatTensor>;
def HLO_FloorOp : HLO_Unary<"floor", "Round down", HLO_FloatTensor>;
def HLO_RoundOp : HLO_Unary<"round_nearest_afz",
    "Round to nearest, ties away from zero", HLO_FloatTensor>;
def HLO_RoundNearestEvenOp : HLO_Unary<"round_nearest_even",
    "Round to nearest, ties to even", HLO_FloatTensor>;
def HLO_NegOp : HLO_Unary<"negate", "Negation">;
def HLO_SignOp : HLO_Unary<"sign", "Sign">;
def HLO_NotOp : HLO_Unary<"not", "Bitwise or logical complement", HLO_IntTensor, "i32">;
def HLO_ClzOp : HLO_Unary<"count_leading_zeros", "Leading zero bits",
    HLO_IntTensor, "i32">;
def HLO_PopulationCountOp : HLO_Unary<"popcnt", "Set bits", HLO_IntTensor, "i32">;

//===----------------------------------------------------------------------===//
// Unary: the element type changes
//===----------------------------------------------------------------------===//

class HLO_UnaryTo<string mnemonic, string theSummary, Type from, Type to,
                  list<Trait> traits = [HLO_Elementwise,
                                        SameOperandsAndResultShape]>
    : HLO_Op<mnemonic, [Pure] # traits> {
  let summary = theSummary;
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $operand attr-dict `:`
      custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def HLO_AbsOp : HLO_UnaryTo<"abs", "Absolute value", HLO_Tensor, HLO_Tensor> {
  let description = [{
    Example: `%1 = stablehlo.abs %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>`.

    (C1) The result has the operand's elements, or their parts when complex.
  }];
  let hasVerifier = 1;
}
def HLO_RealOp : HLO_UnaryTo<"real", "Real part", HLO_FloatOrComplexTensor,
    HLO_FloatTensor> {
  let description = [{
    Example: `%1 = stablehlo.real %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>`.

    (C1) The result has the parts' element type.
  }];
  let hasVerifier = 1;
}
def HLO_ImagOp : HLO_UnaryTo<"imag", "Imaginary part", HLO_FloatOrComplexTensor,
    HLO_FloatTensor> {
  let description = [{
    Example: `%1 = stablehlo.imag %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>`.

    (C1) The result has the parts' element type.
  }];
  let hasVerifier = 1;
}
def HLO_IsFiniteOp : HLO_UnaryTo<"is_finite", "Neither infinite nor NaN",
    HLO_FloatTensor, HLO_PredTensor> {
  let description = [{
    Example: `%1 = stablehlo.is_finite %0 : (tensor<8xf32>) -> tensor<8xi1>`.
  }];
}
def HLO_ConvertOp : HLO_UnaryTo<"convert", "Conversion of the element type",
    HLO_Tensor, HLO_Tensor> {
  let description = [{
    Example: `%1 = stablehlo.convert %0 : (tensor<8xbf16>) -> tensor<8xf32>`.
  }];
}
def HLO_BitcastConvertOp : HLO_UnaryTo<"bitcast_convert",
    "Reinterpretation of bits", HLO_Tensor, HLO_Tensor, []> {
  let description = [{
    Of one element width, or the narrower type has an extra last dimension.

    (C1) The numbers of bits of operand and result are equal, and so are their
    shapes but for that last dimension.
  }];
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HLO_ReducePrecisionOp
    : HLO_Op<"reduce_precision", [Pure, HLO_Elementwise, HLO_Identity,
                                  SameOperandsAndResultType]> {
  let summary = "Rounding to a narrower format, kept in the wide type";
  let description = [{
    Example: `%1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<8xf32>`.
  }];
  let arguments = (ins HLO_FloatTensor:$operand,
                       ConfinedAttr<I32Attr, [IntMinValue<1>]>:$exponent_bits,
                       ConfinedAttr<I32Attr, [IntMinValue<0>]>:$mantissa_bits);
  let results = (outs HLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `format` `=`
      custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:`
      custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class HLO_Binary<string mnemonic, string theSummary, Type tensor = HLO_Tensor,
                 list<Trait> traits = [], string element = "f32">
    : HLO_Op<mnemonic, [Pure, HLO_Elementwise, SameOperandsAndResultType]
                       # traits> {
  let summary = theSummary;
  let description = "Example: `%2 = stablehlo." # mnemonic #
                    " %0, %1 : tensor<8x" # element # ">`.";
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
      custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

def HLO_AddOp : HLO_Binary<"add", "Sum; `or` of i1", HLO_Tensor, [Commutative]>;
def HLO_AndOp : HLO_Binary<"and", "Bitwise or logical conjunction",
    HLO_IntTensor, [Commutative], "i32">;
def HLO_Atan2Op : HLO_Binary<"atan2", "Angle of the point (rhs, lhs)",
    HLO_FloatOrComplexTensor, [HLO_Costly]>;
def HLO_DivOp : HLO_Binary<"divide", "Quotient; truncated for integers",
    HLO_Tensor, [HLO_Costly]>;
def HLO_MaxOp : HLO_Binary<"maximum", "Maximum; NaN if either is", HLO_Tensor,
    [Commutative]>;
def HLO_MinOp : HLO_Binary<"minimum", "Minimum; NaN if either is", HLO_Tensor,
    [Commutative]>;
def HLO_MulOp : HLO_Binary<"multiply", "Product; `and` of i1", HLO_Tensor,
    [Commutative]>;
def HLO_OrOp : HLO_Binary<"or", "Bitwise or logical disjunction",
    HLO_IntTensor, [Commutative], "i32">;
def HLO_PowOp : HLO_Binary<"power", "Power", HLO_Tensor, [HLO_Costly]>;
def HLO_RemOp : HLO_Binary<"remainder", "Remainder, with the sign of lhs",
    HLO_Tensor, [HLO_Costly]>;
def HLO_ShiftLeftOp : HLO_Binary<"shift_left", "Left shift", HLO_IntTensor, [], "i32">;
def HLO_ShiftRightArithmeticOp : HLO_Binary<"shift_right_arithmetic",
    "Right shift that keeps the sign", HLO_IntTensor, [], "i32">;
def HLO_ShiftRightLogicalOp : HLO_Binary<"shift_right_logical",
    "Right shift that brings in zeros", HLO_IntTensor, [], "i32">;
def HLO_SubtractOp : HLO_Binary<"subtract", "Difference">;
def HLO_XorOp : HLO_Binary<"xor", "Bitwise or logical exclusive or",
    HLO_IntTensor, [Commutative], "i32">;

def HLO_ComplexOp : HLO_Op<"complex", [Pure, HLO_Elementwise,
                                       SameOperandsAndResultShape,
                                       SameTypeOperands]> {
  let summary = "Complex numbers from their parts";
  let description = "(C1) The result's parts have the operands' element type.";
  let arguments = (ins HLO_FloatTensor:$lhs, HLO_FloatTensor:$rhs);
  let results = (outs HLO_ComplexTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:`
      custom<ComplexOpType>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}

def HLO_CompareOp : HLO_Op<"compare", [Pure, HLO_Elementwise,
                                       SameOperandsAndResultShape,
                                       SameTypeOperands]> {
  let summary = "Element-wise comparison";
  let description = [{
    Example: `%2 = stablehlo.compare GE, %0, %1, SIGNED : (tensor<8xi32>,
    tensor<8xi32>) -> tensor<8xi1>`. The type may be left out.

    (C1) The type suits the elements: FLOAT and TOTALORDER floats and complex
    numbers, SIGNED and UNSIGNED integers.
  }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs,
                       HLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<HLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs HLO_PredTensor:$result);
  let assemblyFormat = [{
    custom<Word>($comparison_direction) `,` $lhs `,` $rhs
      (`,` custom<Word>($compare_type)^)? attr-dict
      `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "Value":$lhs, "Value":$rhs,
                                 "ComparisonDirection":$direction,
                                 CArg<"ComparisonType",
                                      "ComparisonType::NOTYPE">:$type)>];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def HLO_SelectOp : HLO_Op<"select", [Pure, HLO_Elementwise,
    AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "Choice of elements by a predicate";
  let description = [{
    Example: `%3 = stablehlo.select %0, %1, %2 : tensor<8xi1>, tensor<8xf32>`.

    (C1) The predicate is a scalar or has the shape of the result.
  }];
  let arguments = (ins HLO_PredTensor:$pred, HLO_Tensor:$on_true,
                       HLO_Tensor:$on_false);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:`
      custom<SelectOpType>(type($pred), type($on_true), type($on_false),
                           type($result))
  }];
  let hasVerifier = 1;
}

def HLO_ClampOp : HLO_Op<"clamp", [Pure, HLO_Elementwise,
    AllTypesMatch<["operand", "result"]>]> {
  let summary = "Elements brought between two bounds";
  let description = [{
    (C1) Each bound is a scalar or has the shape of the operand, and has its
    element type.
  }];
  let arguments = (ins HLO_Tensor:$min, HLO_Tensor:$operand, HLO_Tensor:$max);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
      custom<SameOperandsAndResultType>(type($min), type($operand), type($max),
                                        type($result))
  }];
  let hasVerifier = 1;
}

#endif // SP_STABLEHLO_ELEMENTWISE
