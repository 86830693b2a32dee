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
///   slice [B,S] to [B,S-1]           B
///
/// The idea is Shardy's `OpShardingRule`.
#ifndef SP_LIB_PARTITION_SHARDINGRULES_H
#define SP_LIB_PARTITION_SHARDINGRULES_H

#include "sp/IR/SP.h"

namespace mlir::sp {

struct Factor {
  /// (operand or result number, dimension).
  SmallVector<std::pair<unsigned, unsigned>> operands, results;
  /// How partial results combine, for a reduction.
  std::optional<Reduction> reduction;
};

/// The factors of a token-local operation; none for one that needs whole
/// operands. Reshapes and operations with control flow have rules of their own.
SmallVector<Factor> getFactors(Operation *op);

/// The dimensions of a reshape's result, given those of its operand (or the
/// other way round); fails where an atom that is dealt would be cut or joined
/// inside.
FailureOr<SmallVector<DimAttr>> reshapeDims(ArrayRef<DimAttr> dims,
                                            ArrayRef<int64_t> shape);

/// Whether a dimension is dealt to ranks.
bool isDealt(DimAttr dim);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_SHARDINGRULES_H
