/// The attentions of a program as squares of queries by keys.
#ifndef SP_TOOLS_SPCOMPILE_ATTENTIONPICTURE_H
#define SP_TOOLS_SPCOMPILE_ATTENTIONPICTURE_H

#include "AttentionSteps.h"
#include "Svg.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

/// Attentions, or gradients of some, that ranks spread alike.
struct DrawnAttention {
  std::string name, location; ///< of the first one
  int64_t forward = 0, backward = 0;
  PlanAttr plan;
  sprt::algebra::Bands bands;
  int64_t queryLength = 0, keyLength = 0, heads = 0;
  bool queriesTravel = false;
  bool areHeadsDealt = false; ///< over a tensor axis as well
  int64_t copies = 1;         ///< of its ranks, along other axes of the mesh
};

/// Those of a module that has passed Plan, which Partition consumes.
SmallVector<DrawnAttention> drawnAttentions(ModuleOp module);

/// Draws them from `top` on, in one column; returns where they end.
double drawAttentions(ArrayRef<DrawnAttention> attentions, double top,
                      sprt::tools::Svg &svg);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_ATTENTIONPICTURE_H
