/// One attention as a square of queries by keys.
#ifndef SP_TOOLS_SPCOMPILE_ATTENTIONSQUARE_H
#define SP_TOOLS_SPCOMPILE_ATTENTIONSQUARE_H

#include "AttentionSteps.h"
#include "Svg.h"

namespace mlir::sp {

/// The colour in which a rank of the axis computes in a step.
std::string colourOfStep(const AttentionSteps &steps, int64_t rank,
                         int64_t step);

/// Draws what one member of those that share the heads computes. What is too
/// fine is sampled, so that a square is small whatever is drawn.
void drawSquare(const AttentionSteps &steps, int64_t member,
                sprt::tools::Point corner, double side, sprt::tools::Svg &svg);

/// How coarse the square is, or "".
std::string describeSamples(const AttentionSteps &steps);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_ATTENTIONSQUARE_H
