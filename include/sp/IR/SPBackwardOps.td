//===- SPBackwardOps.td - Gradients of attention -----------------*- tablegen -*-===//
//
//   P = exp(scale * Q K^T - lse)      over the pairs that bands show
//   D = rowsum(dO * O)                one number a query and head
//   dS = P * (dO V^T - D) * scale
//   dQ = dS K        dK = dS^T Q        dV = P^T dO
//
// With a score function e, its slope e' by the scaled product and its weight w:
//
//   P = exp(e - greatest) / sum      dS = P * (w * dO V^T - D) * e' * scale
//   dV = (P * w)^T dO
//
// and, with the derivative e_t of e by an element of a term t,
//
//   dt = sum over the pairs that read the element of P * (w * dO V^T - D) * e_t
//
// FlashAttention-2 (arXiv:2307.08691), algorithm 2: nothing of size queries x
// keys is kept from the forward, which leaves O and lse.

#ifndef SP_IR_SPBACKWARDOPS_TD
#define SP_IR_SPBACKWARDOPS_TD

def Sp_AttentionBackwardOp : Sp_Scored<"attention_backward"> {
  let summary = "Gradient of an attention with respect to queries, keys and values";
  let description = [{
    The vector-Jacobian product of the `sp.attention` with the same queries, keys,
    values, bands and scale, whose result is `output` and whose logarithms of sums
    are `lse`, for the cotangent `d_output` of that result. Kv heads that several
    query heads read get the sum over them. Exists from Import to Partition, with a
    `plan` after Plan.

    With `score`, the function of that name makes of each pair what the attention's
    score function makes of it, followed by its derivative with respect to the
    scaled product: exponent, slope and, where that has one, weight. Terms are the
    attention's. A query whose greatest exponent is -inf adds nothing; what a `mean`
    gives there and what a sink adds is the program's.

    `d_terms` are sums of what the pairs give for an element of a term that their
    exponents are made of: `[batch, queries or 1, heads, keys or 1]`, where 1 is the
    sum over queries or keys. For each the score function ends in one result more,
    the derivative of the exponent by that element.

    `d_lse` is the cotangent of the logarithms of sums where the program reads them:
    each query's adds to what its exponents get, as weights are their gradients.

    (C1) operands agree in batch, lengths, heads and sizes as those of `sp.attention`
    do, and each gradient has the shape of its operand.
    (C2) kvHeads is at least one and at most heads.
    (C3) bands lie inside the lengths and are not empty.
    (C4) no pair is in two bands, and no band is uniform.
    (C5) terms, score function and lse are as in `sp.attention`, with the slope and
    the derivatives among the function's results.
    (C6) gradients of terms have those shapes and lse's element type.
    (C7) `d_lse` is `[batch, queries, heads]` and has lse's element type.
    (C8) documents are as in `sp.attention`.
    ```mlir
    %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%do)
       bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.250000e-01 {name = "layer0"}
       : (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
       -> (tensor<1x64x8x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>)
    ```
  }];
  let arguments = !con((ins 4DTensorOf<[AnyFloat]>:$query, 4DTensorOf<[AnyFloat]>:$key, 4DTensorOf<[AnyFloat]>:$value,
                            4DTensorOf<[AnyFloat]>:$output, TensorRankOf<[F32, F64], [3, 4]>:$lse,
                            4DTensorOf<[AnyFloat]>:$d_output), terms,
                       (ins Optional<3DTensorOf<[F32, F64]>>:$d_lse, Sp_BandsAttr:$bands, OptionalAttr<Sp_DocumentsAttr>:$documents, F64Attr:$scale,
                            OptionalAttr<FlatSymbolRefAttr>:$score,
                            DefaultValuedStrAttr<StrAttr, "">:$name, OptionalAttr<Sp_PlanAttr>:$plan));
  let results = (outs 4DTensorOf<[AnyFloat]>:$d_query, 4DTensorOf<[AnyFloat]>:$d_key,
                      4DTensorOf<[AnyFloat]>:$d_value, Variadic<4DTensorOf<[F32, F64]>>:$d_terms);
  // Of query, key and value; results and terms are the forward's; without a plan.
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$gradients, "::llvm::ArrayRef<::mlir::Value>":$operands,
                                 "AttentionOp":$forward, "::mlir::Value":$cotangent, "::mlir::Value":$lseCotangent,
                                 "const PairScores &":$scores)>];
  let assemblyFormat = [{
    `(` $query `,` $key `,` $value `)` `of` `(` $output `,` $lse `)` `by` `(` $d_output `)`
  }] # termsText # [{
    (`lse` `(` $d_lse^ `:` type($d_lse) `)`)? `bands` $bands (`documents` $documents^)? `scale` $scale (`plan` $plan^)? attr-dict `:`
    `(` type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($lse) `,` type($d_output) `)` `->`
    `(` type($d_query) `,` type($d_key) `,` type($d_value) `)` (`terms` `(` type($d_terms)^ `)`)?
  }];
  let hasVerifier = 1;
}

def Sp_AttendBackwardOp : Sp_Scored<"attend_backward", [DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "Gradients from one block of queries and one of keys";
  let description = [{
    The part of the three gradients that the pairs of local queries and one block of
    keys make, in fp32 (fp64 for fp64 operands). `lse` is the final one of the
    queries' softmax state, `delta` the sum over the value size of `d_output` times
    the attention's result; a query whose lse (its greatest exponent) is -inf saw no
    key and adds nothing. The score function is that of `sp.attention_backward`, its
    terms are as in `sp.attend`. Either block may be that of another rank: the keys
    are those of rank `source`, or the queries, with all that belongs to them, those
    of rank `query_source`. Queries that are dealt by turn have one always, which
    names this rank in a turn.
    The part is added to `onto_query` and to `onto_keys`; without them that gradient
    starts here. Gradients of terms, `[batch, queries, heads, keys or 1]` with local
    queries and heads or `[batch, 1, heads, keys or 1]` with the heads of the whole
    attention, are added to `onto_terms`; their keys are all keys, by position. Rows, heads and bands are as in `sp.attend`. Rows beyond
    a rank's count are padding: nothing is read or written there. Exists from
    Partition on. Memory places a continued gradient on the old one.

    (C1) operands and gradients have the shapes that those of `sp.attention_backward`
    have, with local rows and heads; lse and delta are `[batch, queries, heads]`, with
    a score function lse is `[batch, queries, heads, 2]`.
    (C2) gradients, lse and delta have the state's element type, and a continued
    gradient has the type of the new one.
    (C3) rows are the most that a rank of their layout holds, heads the most that
    one of `heads` does.
    (C4) no band is uniform.
    (C5) terms are as (C4) of `sp.attend` says, the score function as (C5) of
    `sp.attention_backward`.
    (C6) at most one of both blocks is that of another rank; queries have a
    `query_source` where they are dealt by turn.
    (C7) gradients of terms have those shapes and the state's element type; each is
    continued by the type of the new one.
    (C8) documents are as in `sp.attend`.
    ```mlir
    %dq1, %dk1, %dv1 = sp.attend_backward(%q, %k, %v) of(%do, %lse, %delta) onto_query(%dq) onto_keys(%dk, %dv)
       queries <zigzag 4096 on "sp" of 4> keys <zigzag 4096 on "sp" of 4> from %src
       bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>] scale 1.250000e-01
       : (tensor<1x1024x8x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x8x64xf32>, tensor<1x1024x8xf32>)
       -> (tensor<1x1024x8x64xf32>, tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>)
    ```
  }];
  let arguments = !con((ins 4DTensorOf<[AnyFloat]>:$query, 4DTensorOf<[AnyFloat]>:$key, 4DTensorOf<[AnyFloat]>:$value,
                            4DTensorOf<[AnyFloat]>:$d_output, TensorRankOf<[F32, F64], [3, 4]>:$lse,
                            3DTensorOf<[F32, F64]>:$delta,
                            Optional<4DTensorOf<[F32, F64]>>:$onto_query, Optional<4DTensorOf<[F32, F64]>>:$onto_key,
                            Optional<4DTensorOf<[F32, F64]>>:$onto_value, Variadic<4DTensorOf<[F32, F64]>>:$onto_terms,
                            Optional<Index>:$query_source,
                            Optional<Index>:$source), terms,
                       (ins Sp_LayoutAttr:$queries, Sp_LayoutAttr:$keys,
                            OptionalAttr<Sp_LayoutAttr>:$heads, OptionalAttr<I64Attr>:$kv_heads,
                            DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$first_head,
                            OptionalAttr<Sp_HeadPartAttr>:$head_part,
                            Sp_BandsAttr:$bands, OptionalAttr<Sp_DocumentsAttr>:$documents, F64Attr:$scale, OptionalAttr<FlatSymbolRefAttr>:$score,
                            DefaultValuedStrAttr<StrAttr, "">:$name));
  let results = (outs 4DTensorOf<[F32, F64]>:$d_query, 4DTensorOf<[F32, F64]>:$d_key,
                      4DTensorOf<[F32, F64]>:$d_value, Variadic<4DTensorOf<[F32, F64]>>:$d_terms);
  // Gradients have the state's element type; of terms all are continued.
  let builders = [OpBuilder<(ins "const AttendBlocks &":$blocks, "const BackwardRows &":$rows,
                                 "const AttentionGradients &":$onto, "const PairScores &":$scores)>];
  let assemblyFormat = [{
    `(` $query `,` $key `,` $value `)` `of` `(` $d_output `,` $lse `,` $delta `)`
    (`onto_query` `(` $onto_query^ `)`)? (`onto_keys` `(` $onto_key^ `,` $onto_value `)`)? (`onto_terms` `(` $onto_terms^ `)`)?
  }] # termsText # [{
    `queries` $queries (`from` $query_source^)? `keys` $keys (`from` $source^)?
    (`heads` $heads^ `kv_heads` $kv_heads)? (`first_head` $first_head^)? (`head_part` $head_part^)? `bands` $bands (`documents` $documents^)? `scale` $scale attr-dict `:`
    `(` type($query) `,` type($key) `,` type($value) `,` type($d_output) `,` type($lse) `)` `->`
    `(` type($d_query) `,` type($d_key) `,` type($d_value) `)` (`terms` `(` type($d_terms)^ `)`)?
    `` custom<GradientTypes>(ref($onto_query), ref($onto_key), ref(type($lse)), ref(type($d_query)), ref(type($d_key)), ref(type($d_value)),
                          ref(type($d_terms)), type($delta), type($onto_query), type($onto_key), type($onto_value), type($onto_terms))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Query heads of the group, of which the rank may hold some.
    int64_t getHeadCount() { return getHeads() ? getHeads()->getLength() : getQuery().getType().getDimSize(2); }
    /// Kv heads of the group.
    int64_t getKvHeadCount() { return getHeads() ? *getKvHeads() : getKey().getType().getDimSize(2); }
    /// The number of its first kv head in the whole attention.
    int64_t getFirstKvHead() { return getFirstHead() == 0 ? 0 : getFirstHead() * getKvHeadCount() / getHeadCount(); }
    /// Heads of what is whole, at least.
    int64_t getWholeHeads() { return getHeadPart() ? getHeadPart()->getWholeHeads() : getFirstHead() + getHeadCount(); }
    /// Whether a term over pairs holds the heads of the whole attention instead
    /// of the rank's.
    bool hasWholeHeads(::mlir::Value pair);
    /// Whether a gradient of a term has the rows and heads of the rank's queries
    /// instead of a sum over queries beside the heads of the whole attention.
    bool hasRows(::mlir::Value term);
  }];
}

#endif // SP_IR_SPBACKWARDOPS_TD
