/// Indices of tensor elements as linear forms over loop variables.
///
/// Reshapes, transposes, slices and broadcasts only rewrite indices. Kept as
/// `constant + sum(coefficient * leaf)` with known ranges, most of that
/// arithmetic cancels before any code exists:
///
///   loop f in [0, 4096)                       one flat loop over 64 x 64
///   (i, j)         = (f div 64, f mod 64)     two leaves derived from f
///   address 64*i+j = f                        quotient and remainder cancel
///   broadcast of i = f div 64                 asks for f = 64*i' + j' instead
///
/// A division that does not cancel is reported to the loop it divides, which is
/// then emitted as two loops; likewise the places where a concatenation or a
/// padding changes its source become bounds of consecutive loops.
#ifndef SP_CODEGEN_ELEMENTINDEX_H
#define SP_CODEGEN_ELEMENTINDEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <set>
#include <vector>

namespace mlir::sp {

/// How one flat iteration space of `extent` points is cut into nested loops,
/// outermost first. Grows while a kernel is emitted; see `refine`.
struct LoopPlan {
  struct Part {
    int64_t extent;
    std::set<int64_t> cuts;   ///< bounds of consecutive loops
    std::set<int64_t> splits; ///< requested divisors
    std::set<int64_t> wanted; ///< requested cuts
    bool isInner = false;     ///< one side of a block: innermost, in order
    int64_t block = 0;        ///< requested side of a block

    explicit Part(int64_t extent, bool isInner = false)
        : extent(extent), isInner(isInner) {}
  };
  std::vector<Part> parts;

  explicit LoopPlan(int64_t extent) : parts{Part(extent)} {}
  /// Numbers of the parts, outermost loop first.
  SmallVector<unsigned> order() const;
  /// Applies what was requested; false if nothing was.
  bool refine();
};

/// A linear form over leaves of an IndexSpace.
class Index {
public:
  Index(int64_t value = 0) : constant(value) {}
  int64_t constant;
  /// (leaf, coefficient), by leaf, no zero coefficient.
  SmallVector<std::pair<unsigned, int64_t>, 3> terms;

  bool isConstant() const { return terms.empty(); }
  bool operator==(const Index &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const Index &other) const;
};

/// Inclusive bounds.
struct IndexRange {
  int64_t low, high;
};

class IndexSpace {
public:
  /// A run-time value with known bounds.
  Index addValue(Value value, IndexRange range);
  /// The variable of one loop of a plan, running over `range`.
  Index addLoop(Value value, IndexRange range, LoopPlan *plan, unsigned part);

  Index add(const Index &a, const Index &b);
  Index scale(const Index &a, int64_t by);
  std::pair<Index, Index> divMod(const Index &a, int64_t by);
  IndexRange range(const Index &a) const;

  Index linearise(ArrayRef<Index> indices, ArrayRef<int64_t> shape);
  SmallVector<Index> delinearise(const Index &flat, ArrayRef<int64_t> shape);

  /// The part of `a` that decides whether it is below `bound` or not negative,
  /// and the rest: neighbours that no such bound divides have the same one.
  std::pair<Index, Index> coarse(const Index &a, int64_t bound) const;

  /// Asks that `a`'s loop be cut where `a` reaches `bound`. False when `a` is
  /// not a loop variable at a constant distance.
  bool requestCut(const Index &a, int64_t bound);

  /// Where `address` strides along the loop `innermost` but moves by one along
  /// another loop, asks for blocks of both. True if that other one is `row`,
  /// which has no plan.
  bool requestBlocks(const Index &address, Value innermost, const Index &row);

  /// Emits `a` as an i64.
  Value materialise(OpBuilder &builder, Location loc, const Index &a);
  /// The i64 values that `a` reads, quotients resolved to their sources.
  void collectValues(const Index &a, SmallVectorImpl<Value> &values) const;

private:
  struct Leaf {
    Value value; ///< null for a quotient or a remainder
    IndexRange range;
    LoopPlan *plan = nullptr;
    unsigned part = 0;
    Index source; ///< of a quotient or remainder
    int64_t divisor = 0;
    bool isQuotient = false;
  };
  void addTerm(Index &sum, unsigned leaf, int64_t coefficient);
  /// Replaces c*divisor*quotient + c*remainder by c*source, as often as it
  /// occurs.
  Index fold(Index sum);
  Index leafIndex(unsigned leaf);
  std::pair<unsigned, unsigned> divisionLeaves(const Index &source, int64_t by);

  std::vector<Leaf> leaves;
  std::vector<std::pair<unsigned, unsigned>> divisions;
};

} // namespace mlir::sp

#endif // SP_CODEGEN_ELEMENTINDEX_H
