//===- Types.td - Types that the input dialects take ----------------------===//

#ifndef SP_STABLEHLO_TYPES
#define SP_STABLEHLO_TYPES

include "mlir/IR/OpBase.td"

def HLO_Element
    : AnyTypeOf<[AnySignlessInteger, AnyUnsignedInteger, AnyFloat, AnyComplex],
                "integer, float or complex">;

def HLO_Tensor : RankedTensorOf<[HLO_Element]>;
def HLO_IntTensor : RankedTensorOf<[AnySignlessInteger, AnyUnsignedInteger]>;
def HLO_FloatTensor : RankedTensorOf<[AnyFloat]>;
def HLO_PredTensor : RankedTensorOf<[I1]>;
def HLO_ComplexTensor : RankedTensorOf<[AnyComplex]>;
def HLO_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;
def HLO_Scalar : 0DTensorOf<[HLO_Element]>;
def HLO_ScalarInt : 0DTensorOf<[AnySignlessInteger, AnyUnsignedInteger]>;
def HLO_Value : AnyTypeOf<[HLO_Tensor, AnyTuple], "tensor or tuple">;

#endif // SP_STABLEHLO_TYPES
