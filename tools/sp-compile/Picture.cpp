//===- Picture.cpp - The picture of a compilation -------------------------===//

#include "Picture.h"

#include "MemoryPicture.h"

using namespace mlir;
using namespace mlir::sp;

std::string mlir::sp::drawCompilation(ModuleOp module,
                                      ArrayRef<DrawnAttention> attentions,
                                      ArrayRef<NotedArgument> arguments,
                                      const EmittedProgram &program,
                                      const nlohmann::json &report) {
  const nlohmann::json &peaks = report["peakBytesPerRank"];
  auto largest = std::max_element(peaks.begin(), peaks.end());
  MemoryNeeds needs;
  needs.rank = largest - peaks.begin();
  needs.peakBytes = largest->get<int64_t>();
  needs.beside = {report["constantBytes"].get<int64_t>(), program.scratchBytes};
  sprt::tools::Svg svg;
  double top = drawAttentions(attentions, 16, svg);
  drawMemory(module, arguments, needs, top + 8, svg);
  return svg.str("Attentions and memory of a program for " +
                 report["ranks"].dump() + " ranks");
}
