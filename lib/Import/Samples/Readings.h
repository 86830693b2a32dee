/// What a comparison by samples may take from a node, and what it may not.
///
/// Two functions that agree on random samples agree everywhere if they are
/// analytic. What is not (a maximum, a clip, a comparison, rounding) may act
/// only where no sample lies, and what inputs, tables or positions make need
/// not be on samples what it is elsewhere. So none of these is evaluated: each
/// is a variable of its own, and what is compared has to agree whatever these
/// are.
///
///     maximum(s, 5)         s or 5, by an order that is drawn for each pair
///     s > 5                 the same order
///     floor(p)              any number, whose derivative is 0
///     reduce max(s)         the maximum and any number: shifts cancel
///     1 + (token >> 7)      any number of that shape, at the edge where it
///                           meets what depends on scores
///     i >= j                exact, at positions that stand for all, where it
///                           is settled: its cuts are known at true sizes
///
/// A bound on false accepts: agreement on a draw where the functions differ
/// needs a draw on the zero set of an analytic function, which has measure zero
/// up to the tolerance of 1e-9; an order that matters in one element is drawn
/// both ways by at least one of thousands of elements.
#ifndef SP_LIB_IMPORT_READINGS_H
#define SP_LIB_IMPORT_READINGS_H

#include "Expression/Component.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

enum class Reading {
  Computed, ///< analytic, or decided by what it is made of
  Exact,    ///< a comparison or table of positions whose cuts are known
  Any,      ///< a variable of the comparison
  Ordered,  ///< one of its operands, or a truth, by an order that may be any
  Shifted   ///< the extreme of a row and any number
};

/// A fill up to this hides a pair whatever its row's scores are, which are
/// taken to be less than half of it; from its magnitude on numbers are no
/// scores.
constexpr double largestFill = -9e8;

class Readings {
public:
  /// `settled` are comparisons of positions that are exact on samples; `opened`
  /// are nodes that something is differentiated by, variables themselves.
  Readings(const Component &component, AxisId keys,
           llvm::SmallPtrSet<const Node *, 8> settled,
           ArrayRef<const Node *> opened = {});

  Reading of(const Node *node);
  /// The same for nodes that are the same function of the same leaves, whatever
  /// moves their elements.
  unsigned identity(const Node *node);
  unsigned identity(double number);
  /// What a node moves, spreads or widens only, or the node itself.
  const Node *source(const Node *node) const;

  /// Whether a node is no less than 0, whatever is drawn.
  bool isNonNegative(const Node *node);
  /// Whether a node is a sum of powers of a row of which the greatest is 1: 0
  /// in rows without keys and at least 1 in others.
  bool isSumFromOne(const Node *node);
  /// The number that a node is everywhere, if it is one.
  std::optional<double> number(const Node *node);
  /// Whether a conversion to the type keeps as much of a number as an operand
  /// has, or f32.
  bool keepsPrecision(Type type) const;
  /// Whether a node is its operand in fewer bits than that.
  bool rounds(const Node *node) const;
  /// Whether no constant in a value of a row takes powers of scores less that
  /// value out of f32's range.
  bool keepsRange(const Node *shift);
  /// Whether a node is its first operand less a value of the row that keeps
  /// the range.
  bool isShifted(const Node *node);
  /// Whether a node can be written down pair by pair, without `power` and
  /// values of rows: nothing in it chooses or rounds by these.
  bool isOfPairs(const Node *node, const Node *power);
  /// Of the nodes that depend on scores and that `node` is made of, the widest
  /// that is not analytic, the last one first; null without one.
  const Node *
  findAny(const Node *node,
          llvm::function_ref<bool(const Node *)> isLeftOut = nullptr);
  /// Whether a node reads values or cotangents, which may be as large as fills.
  bool isOfValues(const Node *node);
  /// Whether a node is the same for all keys of a row, by what it is made of.
  bool isOfRow(const Node *node);
  bool runsOverKeys(const Node *node) const {
    return runsOver(labels, node, keys);
  }

private:
  Reading ofScored(const Node *node);
  Reading ofInput(const Node *node);
  unsigned numberOf(std::vector<uint64_t> key);
  bool isOfTruths(const Node *node);
  bool isBit(const Node *node);
  bool isFlags(const Node *node);
  /// Whether an operation yields numbers of 0 and more from its operands.
  bool makesNonNegative(const Node *node);

  const AxisLabels &labels;
  AxisId keys;
  llvm::SmallPtrSet<const Node *, 8> settled, opened;
  SmallVector<FloatType, 3> operandTypes;
  DenseMap<const Node *, Reading> readings;
  DenseMap<const Node *, unsigned> identities;
  std::map<std::vector<uint64_t>, unsigned> numbersOfKeys;
  DenseMap<const Node *, bool> decided, ofOpened, ofTruths, nonNegative, bits,
      ofRow, ofValues;
  DenseMap<const Node *, std::optional<double>> numbers;
};

/// The operand that is a sum of exponentials of pairs, where a node adds what
/// does not depend on scores to it; null elsewhere.
const Node *sumBesidePower(const AxisLabels &labels, const Node *node,
                           AxisId keys);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_READINGS_H
