//===- SPOps.td - Meaning, partial attention, positions ----------*- tablegen -*-===//

#ifndef SP_IR_SPOPS_TD
#define SP_IR_SPOPS_TD

include "sp/IR/SPBase.td"
include "sp/IR/SPInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// What a score function reads besides the score, as attention and attend take it.
class Sp_Scored<string mnemonic, list<Trait> traits = []>
    : Sp_Op<mnemonic, !listconcat(traits, [Pure, AttrSizedOperandSegments, Sp_ScoredOpInterface,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  dag terms = (ins Variadic<AnyRankedTensor>:$terms, Sp_TermKindsAttr:$term_kinds);
  string termsText = "(`score` $score^)? `` custom<Terms>($terms, type($terms), $term_kinds)";
}

def Sp_AttentionOp : Sp_Scored<"attention"> {
  let summary = "Attention as the model means it";
  let description = [{
    `softmax(scale * q k^T, over the keys that bands show) v`, with
    q `[batch, queries, heads, d]`, k `[batch, keys, kvHeads, d]`,
    v `[batch, keys, kvHeads, dv]` and the result `[batch, queries, heads, dv]`.
    Query head h reads kv head `floor(h * kvHeads / heads)`. `empty` says what a
    row gives to which no band shows a key. Exists from Import to Partition,
    with a `plan` after Plan.

    With `score`, the function of that name makes the exponent of each pair from
    its scaled product, its head, query and key, and one element of each term:
    values `per_query` and `per_key` are `[batch or 1, length, 1, 1]`, those
    `per_head` `[batch or 1, 1, heads or 1, 1]`, those of a `pair` `[batch or 1, heads or 1, queries or 1, keys or 1]`, where one element
    serves all; a `table` `[rows, columns]` is handed over whole. An exponent of
    -inf hides the pair. A second result of the function multiplies the weight
    after the softmax (dropout, head masks). A `sink` is one more exponent in
    each head's sum, without a value. `mean` holds what a row gives whose pairs
    the function hides, the mean of the values of all keys.

    A second result `lse` is there where a gradient asks for it: the logarithm of the
    sum of exponentials of each query and head, -inf where no key is visible, in the
    form that `sp.attend` has it.

    Where `documents` are said, the score function hides every pair of a query and a
    key of different ones.

    (C1) operands and result agree in batch, lengths, heads and sizes.
    (C2) kvHeads is at least one and at most heads.
    (C3) bands lie inside the lengths and are not empty.
    (C4) `empty = mean` is said with uniform bands, which then leave no row empty,
    or with a score function and the mean.
    (C5) no pair is in two bands.
    (C6) terms have those shapes, the sink `[heads]`, the mean `[batch, 1, heads, dv]`.
    (C7) the score function exists and takes the score as f32 (f64 for f64
    operands), head, query and key as i32, an element of each term and each table.
    (C8) lse is `[batch, queries, heads]`, with a score function `[batch, queries,
    heads, 2]`, in fp32 (fp64 for fp64 operands).
    (C9) documents exist, of as many queries and keys.
    ```mlir
    %o = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"}
       : tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x8x16xf32>
    ```
  }];
  let arguments = !con((ins 4DTensorOf<[AnyFloat]>:$query, 4DTensorOf<[AnyFloat]>:$key,
                            4DTensorOf<[AnyFloat]>:$value), terms,
                       (ins Optional<1DTensorOf<[F32, F64]>>:$sink, Optional<4DTensorOf<[AnyFloat]>>:$mean, Sp_BandsAttr:$bands, OptionalAttr<Sp_DocumentsAttr>:$documents, F64Attr:$scale,
                            DefaultValuedAttr<Sp_Empty, "Empty::Nan">:$empty,
                            OptionalAttr<FlatSymbolRefAttr>:$score,
                            DefaultValuedStrAttr<StrAttr, "">:$name, OptionalAttr<Sp_PlanAttr>:$plan));
  let results = (outs 4DTensorOf<[AnyFloat]>:$result, Optional<TensorRankOf<[F32, F64], [3, 4]>>:$lse);
  // Of query, key and value; without a plan.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Type":$lse, "::llvm::ArrayRef<::mlir::Value>":$operands,
                                 "const AttentionTerms &":$terms, "::mlir::Value":$sink, "::mlir::Value":$mean,
                                 "Empty":$empty, "const PairScores &":$scores)>];
  let assemblyFormat = "`(` $query `,` $key `,` $value `)`" # termsText # [{
    (`sink` `(` $sink^ `:` type($sink) `)`)? (`mean` `(` $mean^ `:` type($mean) `)`)? `bands` $bands (`documents` $documents^)? `scale` $scale (`empty` $empty^)?
    (`plan` $plan^)? attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result)
    (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}

def Sp_AttendOp : Sp_Scored<"attend", [DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "Attention of local queries to one block of keys, onto a softmax state";
  let description = [{
    The state is (o, lse), in fp32 (fp64 for fp64 operands). As a `mean` o is
    normalised and lse the logarithm of the sum of exponentials; where nothing goes
    on with it, o may be rounded to the type of q. As sums, which a step to the
    next rounds less, lse is the greatest exponent and the sum of powers relative
    to it, in base 2 or, with a score function, in base e, and o the sum of values
    times these powers. With a score function a state that something goes on with
    is always sums: exponents may be so large that the logarithm of a sum would
    drown in them; o normalised is NaN in rows whose scores are all -inf. Without `onto` the
    state starts empty: o = 0, lse (its greatest exponent) = -inf. Only the pairs that `bands` show between the
    positions of the local queries and those of the keys count; local rows
    beyond a rank's count are padding, which nothing sees. The keys are those
    of rank `source` of the key layout (default: this rank), queries that are
    dealt by turn those of owner `query_source`. With `heads` the
    operands hold the heads that layout gives this rank, of
    `heads.length` query heads and `kv_heads` kv heads. Where heads come in
    groups, these are the group's, and `first_head` is the number that its first
    head has in the whole attention: a score function sees those numbers. A
    `head_part` says which heads of that a tensor axis gave this rank, of which all
    else speaks; a score function sees the numbers that they have before. Its
    terms are as in `sp.attention`, with local rows and heads: `per_query` and
    the queries of a `pair` as the queries, `per_key` as the keys, the heads of a
    `pair` over queries as the heads. The keys of a `pair`, the heads of one that is
    the same for all queries, and those of `per_head` stay whole, which is as
    many as the attention has; so may those of any `pair`.
    Exists from Partition on. Memory places a new state on the old one.

    (C1) o is `[batch, queries, heads, dv]`, lse of a mean `[batch, queries, heads]`,
    of sums `[batch, queries, heads, 2]`.
    (C2) the state has the type of the results; o has q's type where there is no
    state, nor sums.
    (C3) rows are the most that a rank of their layout holds, heads the most that
    one of `heads` does.
    (C4) terms have those shapes; whole heads reach to the group's last.
    (C5) the score function is as (C7) of `sp.attention` says.
    (C6) sums are in base e with a score function, in base 2 without; with one
    only sums are continued.
    (C7) queries have a `query_source` where they are dealt by turn, and only then.
    (C8) documents exist, of all queries and keys that the layouts deal.
    ```mlir
    %o1, %l1 = sp.attend(%q, %k, %v) onto(%o, %l) queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %src
       bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.250000e-01
       : (tensor<1x1024x8x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>) -> tensor<1x1024x8x64xf32>, tensor<1x1024x8xf32>
    ```
  }];
  let arguments = !con((ins 4DTensorOf<[AnyFloat]>:$query, 4DTensorOf<[AnyFloat]>:$key,
                            4DTensorOf<[AnyFloat]>:$value, Optional<4DTensorOf<[F32, F64]>>:$state,
                            Optional<TensorRankOf<[F32, F64], [3, 4]>>:$stateLse, Optional<Index>:$query_source,
                            Optional<Index>:$source), terms,
                       (ins Sp_LayoutAttr:$queries, Sp_LayoutAttr:$keys,
                            OptionalAttr<Sp_LayoutAttr>:$heads, OptionalAttr<I64Attr>:$kv_heads,
                            DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$first_head,
                            OptionalAttr<Sp_HeadPartAttr>:$head_part,
                            Sp_BandsAttr:$bands, OptionalAttr<Sp_DocumentsAttr>:$documents, F64Attr:$scale,
                            DefaultValuedAttr<Sp_SoftmaxForm, "SoftmaxForm::Mean">:$form,
                            OptionalAttr<FlatSymbolRefAttr>:$score,
                            DefaultValuedStrAttr<StrAttr, "">:$name));
  let results = (outs 4DTensorOf<[AnyFloat]>:$output, TensorRankOf<[F32, F64], [3, 4]>:$lse);
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::Type":$lse, "const AttendBlocks &":$blocks,
                                 "const SoftmaxState &":$onto, "SoftmaxForm":$form, "const PairScores &":$scores)>];
  let assemblyFormat = [{
    `(` $query `,` $key `,` $value `)` (`onto` `(` $state^ `,` $stateLse `)`)?
  }] # termsText # [{
    `queries` $queries (`from` $query_source^)? `keys` $keys (`from` $source^)?
    (`heads` $heads^ `kv_heads` $kv_heads)?
    (`first_head` $first_head^)? (`head_part` $head_part^)? `bands` $bands (`documents` $documents^)? `scale` $scale (`as` $form^)? attr-dict `:`
    `(` type($query) `,` type($key) `,` type($value) `)` `->` type($output) `,` type($lse)
    `` custom<StateTypes>(ref($state), ref(type($output)), ref(type($lse)), type($state), type($stateLse))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Query heads of the group, of which the rank may hold some.
    int64_t getHeadCount() { return getHeads() ? getHeads()->getLength() : getQuery().getType().getDimSize(2); }
    /// Kv heads of the group.
    int64_t getKvHeadCount() { return getHeads() ? *getKvHeads() : getKey().getType().getDimSize(2); }
    /// The number of its first kv head in the whole attention: groups begin with
    /// the first query head of one.
    int64_t getFirstKvHead() { return getFirstHead() == 0 ? 0 : getFirstHead() * getKvHeadCount() / getHeadCount(); }
    /// Heads of what is whole, at least.
    int64_t getWholeHeads() { return getHeadPart() ? getHeadPart()->getWholeHeads() : getFirstHead() + getHeadCount(); }
    /// Whether the state is sums instead of a mean and the logarithm of a sum.
    bool keepsSums() { return getForm() != SoftmaxForm::Mean; }
    /// Whether o is the result, in a type that no state has.
    bool isFinished() { return ::llvm::cast<::mlir::RankedTensorType>(getOutput().getType()).getElementType() != ::llvm::cast<::mlir::RankedTensorType>(getLse().getType()).getElementType(); }
    /// Whether a term over pairs holds the heads of the whole attention instead
    /// of the rank's.
    bool hasWholeHeads(::mlir::Value pair);
  }];
}

//===----------------------------------------------------------------------===//
// Ranks and their rows
//===----------------------------------------------------------------------===//

def Sp_RankOp : Sp_Op<"rank", [Pure]> {
  let summary = "Coordinate of this rank along a mesh axis";
  let description = [{
    ```mlir
    %r = sp.rank "sp" : index
    ```
  }];
  let arguments = (ins Sp_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Sp_GroupSizeOp : Sp_Op<"group_size", [Pure]> {
  let summary = "How many ring owners share what this rank has of documents";
  let description = [{
    Of a layout by batches those that hand their blocks round with this rank, itself
    among them; of another one all.
    ```mlir
    %n = sp.group_size <batch 4096 on "sp" of 8 holds 640> : index
    ```
  }];
  let arguments = (ins Sp_LayoutAttr:$layout);
  let results = (outs Index:$result);
  let assemblyFormat = "$layout attr-dict `:` type($result)";
}

def Sp_GroupSourceOp : Sp_Op<"group_source", [Pure]> {
  let summary = "Whose block is here after so many steps of a group's ring";
  let description = [{
    The owner that is `steps` before this rank in its group, cyclically: with owners
    3 to 5 in one group and 2 steps, 4 for the owner 3.
    ```mlir
    %src = sp.group_source %t in <batch 4096 on "sp" of 8 holds 640> : index
    ```
  }];
  let arguments = (ins Index:$steps, Sp_LayoutAttr:$layout);
  let results = (outs Index:$result);
  let assemblyFormat = "$steps `in` $layout attr-dict `:` type($result)";
}

def Sp_PositionsOp : Sp_Op<"positions", [Pure]> {
  let summary = "Global positions of this rank's rows";
  let description = [{
    What iota, RoPE tables and masks read once the sequence is dealt to ranks.
    Padding repeats position 0.
    (C1) the result has as many elements as the layout's largest rank.
    (C2) the layout has no turns.
    ```mlir
    %pos = sp.positions <zigzag 4096 on "sp" of 4> : tensor<1024xi32>
    ```
  }];
  let arguments = (ins Sp_LayoutAttr:$layout);
  let results = (outs 1DTensorOf<[I32, I64]>:$result);
  let assemblyFormat = "$layout attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sp_RowCountOp : Sp_Op<"row_count", [Pure]> {
  let summary = "Number of valid rows of this rank";
  let description = [{
    Rows from this number on are padding.
    ```mlir
    %n = sp.row_count <zigzag 4096 on "sp" of 4> : tensor<i32>
    ```
  }];
  let arguments = (ins Sp_LayoutAttr:$layout);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let assemblyFormat = "$layout attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Commands of the schedule
//===----------------------------------------------------------------------===//

def Sp_LaunchOp : Sp_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                   DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "Call of a fused kernel";
  let description = [{
    Runs a private function of token-local operations as one kernel. Exists from
    Schedule on. With `onto` it writes its only result where that operand lies,
    and only what it changes there: new rows of a cache, say.
    (C1) the kernel exists and its type is that of the call.
    (C2) `onto` is the number of an operand of the result's type, the same in
    all calls of the kernel, whose argument says so.
    ```mlir
    %y = sp.launch @norm_0(%x, %w) : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
    %z = sp.launch @write_0(%cache, %new, %at) onto 0 : (tensor<512x64xf32>, tensor<1x64xf32>, tensor<i32>) -> tensor<512x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$operands,
                       OptionalAttr<I64Attr>:$onto);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $operands `)` (`onto` $onto^)? attr-dict `:` functional-type($operands, $results)";
}

def Sp_GemmOp : Sp_Op<"gemm", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "Matrix product by the vendor's library";
  let description = [{
    `c[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]`, accumulated in fp32,
    over row-major operands whose dimensions collapse to these: `sizes` is
    `[b, m, n, k]`, strides are in elements, `lhs_strides` over `[b, m, k]`,
    `rhs_strides` over `[b, k, n]`; c is dense. Exists from Schedule on.

    With `onto` the product is added to what lies there, as partial gradients of
    weights are, block after block of rows; Memory places the result on it.
    On GPUs the library then adds `bias[n]` and applies the activation, still in
    fp32, before it rounds: `relu`, or `gelu` in its form by tanh.

    (C1) four sizes, three strides an operand.
    (C2) the result has b * m * n elements.
    (C3) the bias has n elements of the result's type.
    (C4) what the product is added to has the result's type, fp32, and neither a
    bias nor an activation follows.
    ```mlir
    %c = sp.gemm %a, %b sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    %d = sp.gemm %a, %b bias %v then relu sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    %e = sp.gemm %a, %b onto %c sizes [1, 8, 16, 4] strides [0, 4, 1] x [0, 16, 1] : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$onto, Optional<AnyRankedTensor>:$bias,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$lhs_strides, DenseI64ArrayAttr:$rhs_strides,
                       DefaultValuedAttr<Sp_Activation, "Activation::None">:$activation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`onto` $onto^)? (`bias` $bias^)? (`then` $activation^)? `sizes` $sizes `strides` $lhs_strides `x`
    $rhs_strides attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sp_CopyOp : Sp_Op<"copy", [Pure, SameOperandsAndResultType]> {
  let summary = "Copy of a value into a place of its own";
  let description = [{
    Exists from Schedule on, where a loop carries a value on while it is still read.
    ```mlir
    %y = sp.copy %x : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Sp_EmptyOp : Sp_Op<"empty", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A stack whose rows are nobody's yet";
  let description = [{
    What a loop over blocks of rows puts its results into. Exists from Schedule on,
    and costs nothing: Memory gives it a place. Every row is put once, and none is
    read before (Verify).
    ```mlir
    %s = sp.empty : tensor<1x16384x64xf32>
    ```
  }];
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Sp_TakeOp : Sp_Op<"take", [Pure]> {
  let summary = "Rows of a stack, where they lie";
  let description = [{
    Rows `at` and after it of dimension `dim`, as a scan reads its layer's weights
    and what an earlier loop saved. Exists from Schedule on. Memory places it in the
    operand's place: nothing moves.

    (C1) types agree but for `dim`, of which the result has at most as many rows.
    (C2) dimensions before `dim` are 1, so that the rows are dense.
    (C3) `at` is a constant or an affine function of counters of loops around it.
    ```mlir
    %w = sp.take %stack at %i dim 0 : tensor<24x64x64xf32> -> tensor<1x64x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$whole, Index:$at, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$whole `at` $at `dim` $dim attr-dict `:` type($whole) `->` type($result)";
  let hasVerifier = 1;
}

def Sp_PutOp : Sp_Op<"put", [Pure, AllTypesMatch<["whole", "result"]>, DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "A stack with other rows";
  let description = [{
    The stack with `block` as its rows `at` and after it of dimension `dim`, as a
    scan saves what each of its turns makes. Exists from Schedule on. Memory places
    the result on the old stack and the block in its rows: nothing moves.

    (C1) types agree but for `dim`, of which the block has at most as many rows.
    (C2) dimensions before `dim` are 1, so that the rows are dense.
    (C3) `at` is a constant or an affine function of counters of loops around it.
    ```mlir
    %s1 = sp.put %dw into %s at %i dim 0 : tensor<1x64x64xf32>, tensor<24x64x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$block, AnyRankedTensor:$whole, Index:$at,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$block `into` $whole `at` $at `dim` $dim attr-dict `:` type($block) `,` type($whole)";
  let hasVerifier = 1;
}

def Sp_WaitOp : Sp_Op<"wait"> {
  let summary = "Wait for an asynchronous operation";
  let description = [{
    What the started operation yields may be used, and what it reads may be
    overwritten, only after the wait.
    ```mlir
    sp.wait %sent
    ```
  }];
  let arguments = (ins Sp_TokenType:$token);
  let assemblyFormat = "$token attr-dict";
}

include "sp/IR/SPBackwardOps.td"
include "sp/IR/SPCommunicationOps.td"
include "sp/IR/SPFarOps.td"
include "sp/IR/SPLogSumExpOps.td"
include "sp/IR/SPProgramOps.td"

#endif // SP_IR_SPOPS_TD
