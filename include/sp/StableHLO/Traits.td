//===- Traits.td - What operations have in common; see Traits.h -*- tablegen -*-===//

#ifndef SP_STABLEHLO_TRAITS_TD
#define SP_STABLEHLO_TRAITS_TD

include "mlir/IR/OpBase.td"

class HLO_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::stablehlo";
}
def HLO_Elementwise : HLO_Trait<"Elementwise">;
def HLO_Identity : HLO_Trait<"Identity">;
def HLO_Costly : HLO_Trait<"Costly">;
def HLO_Spread : HLO_Trait<"Spread">;
def HLO_ControlFlow : HLO_Trait<"ControlFlow">;
def HLO_KernelStage : HLO_Trait<"KernelStage">;

#endif // SP_STABLEHLO_TRAITS_TD
