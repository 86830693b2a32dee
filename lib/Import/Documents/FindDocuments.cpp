//===- FindDocuments.cpp - Documents that score functions tell apart ------===//
//
// Packed sequences hide every pair of two documents, however that is spelled: a
// score function of which an element of the query and one of the key are all
// that decides it, where these are not equal. Where both come from the
// program's arguments they are known before a run begins.
//
//===----------------------------------------------------------------------===//

#include "Documents/HiddenPairs.h"
#include "Documents/NumberSource.h"

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FINDDOCUMENTSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

class FindDocumentsPass
    : public sp::impl::FindDocumentsPassBase<FindDocumentsPass> {
public:
  void runOnOperation() override {
    found.clear();
    main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    main.walk([&](Operation *op) {
      if (auto forward = dyn_cast<AttentionOp>(op))
        find(forward);
      if (auto backward = dyn_cast<AttentionBackwardOp>(op))
        find(backward);
    });
  }

private:
  template <typename OpT> void find(OpT op) {
    if (!op.getScore())
      return;
    auto score = cast<func::FuncOp>(
        SymbolTable::lookupNearestSymbolFrom(op, op.getScoreAttr()));
    // Before terms a score function takes the score, head, query and key.
    constexpr unsigned before = 4;
    ArrayRef<TermKind> kinds = op.getTermKinds().getKinds();
    auto termsOf = [&](TermKind kind) {
      auto [first, count] = findKind(kinds, kind);
      return llvm::seq<size_t>(first, first + count);
    };
    for (size_t query : termsOf(TermKind::PerQuery))
      for (size_t key : termsOf(TermKind::PerKey)) {
        std::optional<NumberSource> queries = sourceOf(op.getTerms()[query]),
                                    keys = sourceOf(op.getTerms()[key]);
        if (!queries || !keys ||
            !hidesUnlessEqual(score, before + query, before + key))
          continue;
        op.setDocumentsAttr(DocumentsAttr::get(
            op.getContext(), documentsOf(*queries), documentsOf(*keys)));
        return;
      }
  }

  std::optional<NumberSource> sourceOf(Value term) const {
    return NumberSource::find(term, main);
  }

  /// The symbol of the documents that these numbers tell apart.
  FlatSymbolRefAttr documentsOf(const NumberSource &source) {
    for (const auto &[known, symbol] : found)
      if (known == source)
        return symbol;
    OpBuilder builder(main);
    auto documents =
        source.create(builder, "documents_" + std::to_string(found.size()));
    found.emplace_back(source, FlatSymbolRefAttr::get(documents));
    return found.back().second;
  }

  func::FuncOp main;
  std::vector<std::pair<NumberSource, FlatSymbolRefAttr>> found;
};

} // namespace
