/// Which dimensions of an operation's operands and results go together.
///
/// A factor is one loop of the operation. Dealing it to ranks deals every
/// dimension that it names; a factor that no result has is a reduction, which
/// leaves partial results. Dimensions of no factor must be whole.
///
///   op                               factors
///   add  [B,S] + [B,S]               B, S
///   dot_general [B,S,D] x [D,F]      B, S, F, D (reduction, sum)
///   reduce add [B,S] over S          B, S (reduction, sum)
///   scatter add [S,D] to [V,D]       D, S (reduction, sum)
///   slice [B,S] to [B,S-1]           B, S (moves)
///   gather [V,D] by [S] indices      S, D, V (reduction, sum; picked)
///
/// The idea is Shardy's `OpShardingRule`.
#ifndef SP_IR_SHARDINGRULES_H
#define SP_IR_SHARDINGRULES_H

#include "sp/IR/SP.h"

namespace mlir::sp {

struct Factor {
  /// (operand or result number, dimension).
  SmallVector<std::pair<unsigned, unsigned>> operands, results;
  /// How partial results combine, for a reduction.
  std::optional<Reduction> reduction;
  /// Rows move along these dimensions, which may differ in length, or change by
  /// their position. They are dealt alike (`fitDim`), but no part computes its
  /// rows by itself.
  bool moves = false;
  /// Indices, the operand of that number, pick one of the positions each: a
  /// rank that has some of them takes part with these. Positions follow each
  /// other then, and the axis deals no indices.
  std::optional<unsigned> pickedBy = {};
};

/// The factors of a token-local operation; none for one that needs whole
/// operands. Reshapes and operations with control flow have rules of their own.
SmallVector<Factor> getFactors(Operation *op);

/// Whether an operation only passes its operand on, for shardings to see.
bool isShardingAnnotation(Operation *op);

/// The dimensions of a reshape's result, given those of its operand (or the
/// other way round); fails where an atom that is dealt would be cut or joined
/// inside what a rank has of it.
FailureOr<SmallVector<DimAttr>> reshapeDims(ArrayRef<DimAttr> dims,
                                            ArrayRef<int64_t> shape);

/// Whether a dimension is dealt to ranks.
bool isDealt(DimAttr dim);

/// Whether the documents of a batch say who holds what of a dimension.
bool isOfBatch(DimAttr dim);

/// How many positions a dimension has, on all ranks.
int64_t lengthOf(DimAttr dim);

/// The layout that deals a dimension of one atom, or null.
LayoutAttr onlyLayout(DimAttr dim);

/// The dimension of one atom that `layout` deals.
DimAttr dealtDim(LayoutAttr layout);

/// How many runs of consecutive positions ranks hold, if all are of one length;
/// else 0. Parts of runs are dealt as the positions are.
int64_t runsOf(LayoutAttr layout);

/// How runs of `by` positions lie, each as one, where every rank has whole runs
/// of them; else null.
LayoutAttr inRuns(LayoutAttr layout, int64_t by);

/// How positions lie of which `layout` deals runs of `by`; null where a layout
/// of so many positions deals them otherwise.
LayoutAttr ofRuns(LayoutAttr layout, int64_t by);

/// The product of atoms, in the one form that dimensions have: what ranks hold
/// whole runs of is one dealt atom.
DimAttr productOf(MLIRContext *context, ArrayRef<AtomAttr> atoms);

/// The dimension of so many positions over axes of a mesh, outermost first;
/// null where one before the last does not divide it.
DimAttr dimOver(MeshOp mesh, ArrayRef<AxisAttr> axes, int64_t size);

/// The dimension of `size` positions that lie where those of `dim` do: the same
/// ones, the first ones, or those that they are the first of. The first ones
/// that few ranks hold are shared by all anew. Null where there is none, and
/// where a rank would hold them all.
DimAttr fitDim(DimAttr dim, int64_t size);

/// The dimension of the same length that is not dealt.
DimAttr wholeDim(DimAttr dim);

/// What both dimensions say of the same product: `[2, 8 by L]` and
/// `[2 by M, 8]` give `[2 by M, 8 by L]`. Fails where they contradict.
FailureOr<DimAttr> mergeDims(DimAttr a, DimAttr b);

/// Whether a dimension is dealt along a mesh axis, or a factor of one, that
/// also deals one of `dims`. It deals at most one dimension of a tensor.
bool sharesAxis(DimAttr dim, ArrayRef<DimAttr> dims);

} // namespace mlir::sp

#endif // SP_IR_SHARDINGRULES_H
