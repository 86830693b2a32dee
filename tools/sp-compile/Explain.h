/// What a compilation made, for people.
#ifndef SP_TOOLS_SPCOMPILE_EXPLAIN_H
#define SP_TOOLS_SPCOMPILE_EXPLAIN_H

#include "Decisions.h"

namespace mlir::sp {

/// What a report of sp-compile says, and the decisions behind it, on one
/// screen: attentions, layers and arguments that are alike in one line.
void printExplanation(const RemarkLog &log, const nlohmann::json &report,
                      raw_ostream &os);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_EXPLAIN_H
