//===- FindDocuments.cpp - Documents that score functions tell apart ------===//
//
// Packed sequences hide every pair of two documents, however that is spelled: a
// score function of which an element of the query and one of the key are all
// that decides it, where these are not equal. Where both come from the
// program's arguments they are known before a run begins.
//
//===----------------------------------------------------------------------===//

#include "Documents/HiddenPairs.h"

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FINDDOCUMENTSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Sizes but for dimensions of 1.
static SmallVector<int64_t> sizesOf(Value value) {
  SmallVector<int64_t> sizes(typeOf(value).getShape());
  llvm::erase(sizes, 1);
  return sizes;
}

/// Whether the result has the operand's elements for each element of a batch.
static bool repeatsRows(stablehlo::BroadcastInDimOp op) {
  SmallVector<int64_t> from = sizesOf(op.getOperand()), to = sizesOf(op);
  // A dimension that is there before and after stays the last one.
  int64_t last = -1;
  for (auto [size, dim] : llvm::zip_equal(typeOf(op.getOperand()).getShape(),
                                          op.getBroadcastDimensions()))
    if (size != 1) {
      if (dim <= last)
        return false;
      last = dim;
    }
  ArrayRef<int64_t> shape = typeOf(op).getShape();
  bool isLast = llvm::all_of(shape.drop_front(last + 1),
                             [](int64_t size) { return size == 1; });
  return isLast && to.size() <= from.size() + 1 &&
         ArrayRef(to).take_back(from.size()) == ArrayRef(from);
}

/// The value that has the same whole numbers, position by position; null where
/// it has others.
static Value simplerThan(Value value) {
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return op->getOperand(result.getResultNumber());
  bool isSame = false;
  if (auto repeat = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    isSame = repeatsRows(repeat);
  if (isa<stablehlo::ReshapeOp>(op))
    isSame = sizesOf(op->getOperand(0)) == sizesOf(value);
  if (isa<stablehlo::ConvertOp>(op))
    isSame = keepsWholeNumbers(elementOf(op->getOperand(0)), elementOf(value));
  return isSame ? op->getOperand(0) : Value();
}

/// The argument of `main` whose elements a term has, of which it is so many
/// positions for each row of a batch.
static std::optional<unsigned> argumentOf(Value term, func::FuncOp main) {
  int64_t length = typeOf(term).getDimSize(1),
          batch = typeOf(term).getDimSize(0);
  Value value = term;
  while (value) {
    value = lookThroughLoops(value);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      value = simplerThan(value);
      continue;
    }
    SmallVector<int64_t> sizes = sizesOf(value);
    bool isRows =
        !sizes.empty() && sizes.back() == length &&
        (sizes.size() == 1 || (sizes.size() == 2 && sizes.front() == batch));
    if (argument.getOwner() != &main.getBody().front() || !isRows ||
        !isa<IntegerType>(elementOf(value)))
      return std::nullopt;
    return argument.getArgNumber();
  }
  return std::nullopt;
}

namespace {

class FindDocumentsPass
    : public sp::impl::FindDocumentsPassBase<FindDocumentsPass> {
public:
  void runOnOperation() override {
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
        Value ofQuery = op.getTerms()[query], ofKey = op.getTerms()[key];
        std::optional<unsigned> queries = argumentOf(ofQuery, main),
                                keys = argumentOf(ofKey, main);
        if (!queries || !keys ||
            !hidesUnlessEqual(score, before + query, before + key))
          continue;
        op.setDocumentsAttr(DocumentsAttr::get(op.getContext(),
                                               documentsIn(*queries, ofQuery),
                                               documentsIn(*keys, ofKey)));
        return;
      }
  }

  /// The symbol of the documents that an argument tells apart.
  FlatSymbolRefAttr documentsIn(unsigned argument, Value term) {
    for (auto known : getOperation().getOps<DocumentsOp>())
      if (known.getArgument() == argument)
        return FlatSymbolRefAttr::get(known);
    OpBuilder builder(main);
    auto documents =
        DocumentsOp::create(builder, main.getArgument(argument).getLoc(),
                            "documents_" + std::to_string(argument),
                            typeOf(term).getDimSize(1), argument);
    return FlatSymbolRefAttr::get(documents);
  }

  func::FuncOp main;
};

} // namespace
