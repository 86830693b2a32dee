/// What a compilation found and decided, for people and for programs.
#ifndef SP_TOOLS_SPCOMPILE_EXPLAIN_H
#define SP_TOOLS_SPCOMPILE_EXPLAIN_H

#include "sp/Codegen/ProgramEmission.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

namespace mlir::sp {

/// Collects the remarks of every stage, in order, with their locations.
class RemarkLog {
public:
  /// Makes `context` send its remarks here; the log must outlive its use.
  explicit RemarkLog(MLIRContext &context);
  const std::vector<std::string> &lines() const { return texts; }
  /// Forgets all but the first `count` lines.
  void truncate(size_t count) { texts.resize(count); }

private:
  std::vector<std::string> texts;
};

/// The attentions of a module that has passed Plan, as the report lists them.
nlohmann::json describeAttentions(ModuleOp module);

/// What the constants of a module take that has passed Memory: weights, say,
/// that the model captures. Every rank has them.
int64_t constantBytesOf(ModuleOp module);

/// The report of a compilation; `attentions` from describeAttentions, `module`
/// past Memory. Fails with a diagnostic where the plan makes no sense.
FailureOr<nlohmann::json> makeReport(ModuleOp module, nlohmann::json attentions,
                                     const EmittedProgram &program,
                                     double seconds);

/// What was decided, a line each.
void printDecisions(const RemarkLog &log, raw_ostream &os);

/// The same for people.
void printExplanation(const RemarkLog &log, const nlohmann::json &report,
                      raw_ostream &os);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_EXPLAIN_H
