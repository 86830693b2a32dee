/// What the stages found and decided, as their remarks say it.
#ifndef SP_TOOLS_SPCOMPILE_DECISIONS_H
#define SP_TOOLS_SPCOMPILE_DECISIONS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"

#include <nlohmann/json.hpp>

namespace mlir::sp {

/// One remark of a stage.
struct Decision {
  std::string pass, name; ///< "sp-localize", "Gathered"
  Location loc;
  std::string text;
  bool isLoss; ///< whether something was missed
  /// Numbers and names of the text, by key.
  nlohmann::json values;
};

/// Collects the remarks of every stage, in order.
class RemarkLog {
public:
  RemarkLog() = default;
  /// Makes `context` send its remarks here; the log must outlive its use.
  explicit RemarkLog(MLIRContext &context);
  const std::vector<Decision> &decisions() const { return list; }
  void add(Decision decision) { list.push_back(std::move(decision)); }
  size_t size() const { return list.size(); }
  /// Forgets all but the first `count`.
  void truncate(size_t count) { list.erase(list.begin() + count, list.end()); }

private:
  std::vector<Decision> list;
};

/// "file:line" where an operation was written, else its name, or "unknown".
std::string describeLocation(Location location);

/// Prints texts in units, but only the first of many that differ in names
/// alone.
void printFolded(ArrayRef<std::string> texts, const llvm::StringSet<> &names,
                 raw_ostream &os);

/// What was decided, a line each.
void printDecisions(const RemarkLog &log, raw_ostream &os);

/// The same as the report lists it.
nlohmann::json describeDecisions(const RemarkLog &log);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_DECISIONS_H
