//===- FusedAttention.h - cuDNN's attention calls ---------------*- C++ -*-===//

#ifndef SP_LIB_STABLEHLO_FUSEDATTENTION_H
#define SP_LIB_STABLEHLO_FUSEDATTENTION_H

#include "sp/StableHLO/StableHLO.h"

namespace mlir::stablehlo {

/// A call of cuDNN's attention that can be expanded. In the shapes of JAX: B
/// batch, T queries, S keys, N heads, K kv heads, H and D their sizes.
struct FusedAttention {
  /// Query [B,T,N,H], key [B,S,K,H] and value [B,S,K,D]; with `headsFirst`
  /// [B,N,T,H], [B,K,S,H] and [B,K,S,D].
  Value query, key, value;
  /// [B or 1,N or 1,T,S], or null.
  Value bias;
  /// [B] in i32, or both null.
  Value queryLengths, keyLengths;
  /// [B,N,T,D], whatever the layout of the query.
  Value output;
  /// The logarithm of the sum of exponentials [B,N,T] in f32, or null.
  Value lse;
  /// Bytes without a meaning.
  Value workspace;
  int64_t batch, queries, keys, heads, kvHeads;
  bool headsFirst;
  float scale;
  /// Query i sees keys up to i.
  bool isCausal;
  /// Query i sees keys from i - window + 1 on, or all if 0.
  int64_t window;
};

/// The target is one of cuDNN's attentions, of which not all can be expanded.
bool isFusedAttention(StringRef target);

/// What the call says; an error at the call if it cannot be expanded.
FailureOr<FusedAttention> readFusedAttention(CustomCallOp call);

/// Writes what the call computes in front of it, in place of its results.
LogicalResult expandFusedAttention(CustomCallOp call);

} // namespace mlir::stablehlo

#endif // SP_LIB_STABLEHLO_FUSEDATTENTION_H
