//===- Types.td - Types that the input dialects take ----------------------===//

#ifndef SP_STABLEHLO_TYPES
#define SP_STABLEHLO_TYPES

include "mlir/IR/OpBase.td"

def HLO_Signless : SignlessIntOfWidths<[1, 2, 4, 8, 16, 32, 64]>;
def HLO_Unsigned : UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def HLO_Int : AnyTypeOf<[HLO_Signless, HLO_Unsigned], "integer">;
def HLO_Complex : Complex<AnyFloat>;
def HLO_Element
    : AnyTypeOf<[HLO_Int, AnyFloat, HLO_Complex], "integer, float or complex">;

def HLO_Tensor : RankedTensorOf<[HLO_Element]>;
def HLO_IntTensor : RankedTensorOf<[HLO_Int]>;
def HLO_FloatTensor : RankedTensorOf<[AnyFloat]>;
def HLO_PredTensor : RankedTensorOf<[I1]>;
def HLO_ComplexTensor : RankedTensorOf<[HLO_Complex]>;
def HLO_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, HLO_Complex]>;
def HLO_Scalar : 0DTensorOf<[HLO_Element]>;
def HLO_ScalarInt : 0DTensorOf<[HLO_Int]>;
def HLO_Value : AnyTypeOf<[HLO_Tensor, AnyTuple], "tensor or tuple">;

#endif // SP_STABLEHLO_TYPES
