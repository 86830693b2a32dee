//===- SPCommunicationOps.td - Communication over mesh axes ------*- tablegen -*-===//
//
// Every op exists in value form (from Partition) and as a `_start` form (from
// Schedule), which says its stream, `comm` unless it is named, and also yields a
// token that `sp.wait` takes.

#ifndef SP_IR_SPCOMMUNICATIONOPS_TD
#define SP_IR_SPCOMMUNICATIONOPS_TD

class Sp_CommOp<string mnemonic, bit start, list<Trait> traits = []>
    : Sp_Op<mnemonic # !if(start, "_start", ""),
            !listconcat(!if(start, [], [Pure]), traits, [Sp_CommunicationOpInterface])> {
  dag streams = !if(start, (ins DefaultValuedAttr<Sp_Stream, "Stream::Comm">:$stream), (ins));
  string streamText = !if(start, " (`on` $stream^)?", "");
}

class Sp_StartText<bit start, string text> {
  string value = !if(start, "Starts what the op without `_start` does; the token completes with it.", text);
}

class Sp_ShiftBase<bit start> : Sp_CommOp<"shift", start> {
  let summary = !if(start, "Start of a shift", "Shift of blocks along a mesh axis");
  let description = Sp_StartText<start, [{
    Every rank hands its blocks to the rank `distance` further along the layout's
    axis, or along a factor of it, cyclically, and takes those of the rank
    `distance` before. `source` is the rank whose rows the blocks hold; only its
    valid rows travel. Dimension 1 is the rows. Where `heads` deals heads,
    dimension 2 is the heads, and only those that the rank's query heads read
    travel. In a layout by batches blocks go round in the group of each rank, which
    may be by itself. A negative distance is the way back. Blocks with `needed_by` go
    `hops` times at most, or a whole turn: one that no such rank on the rest of
    that way needs stays where it is. Blocks `seen_by` others go straight from their
    owner to another rank, or gradients of them straight back from there: only the
    rows between the first and the last that this rank sees in a slice travel, the
    others are zeros.
    ```
    rank      0   1   2   3
    before    a   b   c   d
    after     d   a   b   c        by 1
    ```
    (C1) results have the types of the operands.
    (C2) `distance` is no multiple of a whole turn, which would move nothing.
    (C3) operands have as many rows as the layout's largest rank.
    (C4) `hops` is at least 1 and less than a whole turn.
    (C5) blocks with `needed_by` go to the next rank or to the one before.
    (C6) blocks `seen_by` others go along the layout's whole axis and are not
    `needed_by` anybody further on, nor of a batch.

    ```mlir
    %k1, %v1 = sp.shift %k, %v from %src by 1 in <zigzag 4096 on "sp" of 4>
       needed_by <rows <zigzag 4096 on "sp" of 4> bands [#sp.band<q 0 to 4096, k 0 to 4096, lo -inf, hi 0>]> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x64xf32>
    ```
  }]>.value;
  dag moved = (ins Variadic<AnyRankedTensor>:$inputs, Index:$source, I64Attr:$distance, Sp_LayoutAttr:$layout,
                       OptionalAttr<I64Attr>:$hops, OptionalAttr<Sp_AxisAttr>:$along,
                       OptionalAttr<Sp_LayoutAttr>:$heads, OptionalAttr<I64Attr>:$kv_heads,
                       OptionalAttr<Sp_ReadersAttr>:$needed_by, OptionalAttr<Sp_ReadersAttr>:$seen_by);
  let arguments = !con(moved, streams);
  let assemblyFormat = "$inputs `from` $source `by` $distance (`hops` $hops^)? (`along` $along^)? `in` $layout"
                       # " (`heads` $heads^ `of` $kv_heads)? (`needed_by` $needed_by^)? (`seen_by` $seen_by^)?" # streamText # " attr-dict `:` type($inputs)"
                       # " `` custom<SameTypes>(ref(type($inputs)), type($results))";
  let hasVerifier = 1;
}
def Sp_ShiftOp : Sp_ShiftBase<0> { let results = (outs Variadic<AnyRankedTensor>:$results); }
def Sp_ShiftStartOp : Sp_ShiftBase<1> {
  let results = (outs Variadic<AnyRankedTensor>:$results, Sp_TokenType:$token);
  let extraClassDeclaration = [{
    /// The way of the blocks in the ring.
    ::sprt::algebra::RingWay getWay(MeshOp mesh);
  }];
}

/// How values travel along dimensions of their own, dealt to the ranks of one axis.
class Sp_DealtOp<string mnemonic, bit start, list<Trait> traits = []> : Sp_CommOp<mnemonic, start, traits> {
  dag dealt = (ins DenseI64ArrayAttr:$dims, Sp_LayoutsAttr:$layouts);
  string dealtText = " custom<DealtDims>(ref($inputs), $dims, $layouts)";
  code dealtDeclaration = [{
    /// The axis that deals every value.
    AxisAttr getAxis() { return getLayout(0).getAxis(); }
    LayoutAttr getLayout(unsigned number) { return ::llvm::cast<LayoutAttr>(getLayouts()[number]); }
  }];
}

class Sp_AllGatherBase<bit start> : Sp_DealtOp<"all_gather", start, [AttrSizedOperandSegments]> {
  let summary = !if(start, "Start of an all-gather", "Rows of all ranks, in position order");
  let description = Sp_StartText<start, [{
    Of each value the dimension that a layout deals becomes whole on every rank of
    the axis; padding does not travel, and all values travel together. With `after`
    they start only once that value is there, so that what is gathered next does not
    lie beside all that was before.
    ```
    rank      0      1          0     1
    before    a d    b c        after abcd  abcd      (zigzag)
    ```
    (C1) each dimension has the largest count of its layout before and its length after.
    (C2) there is a value at least, and a dimension, a layout and a result for each.
    (C3) layouts deal to the same ranks.
    ```mlir
    %k1, %v1 = sp.all_gather %k, %v dim 1 in <zigzag 4096 on "sp" of 4> : tensor<1x1024x2x64xf32>, tensor<1x1024x2x32xbf16> -> tensor<1x4096x2x64xf32>, tensor<1x4096x2x32xbf16>
    %u1, %w1 = sp.all_gather %u, %w dims [0 in <contiguous 8 on "sp" of 4>, 1 in <contiguous 9 on "sp" of 4>] : tensor<2x4xf32>, tensor<8x3xf32> -> tensor<8x4xf32>, tensor<8x9xf32>
    ```
  }]>.value;
  dag moved = !con((ins Variadic<AnyRankedTensor>:$inputs), dealt, (ins Optional<AnyRankedTensor>:$after));
  let arguments = !con(moved, streams);
  let assemblyFormat = "$inputs" # dealtText # " (`after` $after^ `:` type($after))?" # streamText # " attr-dict `:`"
                       # " type($inputs) `->` type($results)";
  let hasVerifier = 1;
  let extraClassDeclaration = dealtDeclaration;
}
def Sp_AllGatherOp : Sp_AllGatherBase<0> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCanonicalizeMethod = 1;
  let builders = [
    /// Value i along dimension dims[i], dealt by layouts[i].
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::llvm::ArrayRef<int64_t>":$dims,
                   "::llvm::ArrayRef<LayoutAttr>":$layouts, CArg<"::mlir::Value", "{}">:$after)>,
  ];
}
def Sp_AllGatherStartOp : Sp_AllGatherBase<1> {
  let results = (outs Variadic<AnyRankedTensor>:$results, Sp_TokenType:$token);
}

class Sp_RedealBase<bit start> : Sp_CommOp<"redeal", start> {
  let summary = !if(start, "Start of a redeal", "Rows dealt anew, or moved along their dimension");
  let description = Sp_StartText<start, [{
    The row of position p in `to` is that of position p + `by` in `from`, along
    dimension `dim`. Only what another rank needs travels: a shift of a sequence
    by one moves the rows at the ends of what ranks hold. With a dense `to`
    every rank gets its rows. Positions that `from` does not have are padding.
    ```
    rank      0     1              0     1
    before    abc   def    after   bcd   ef.    (contiguous, by 1)
    ```
    (C1) `dim` has the largest count of `from` before and that of `to` after.
    (C2) `from` deals to more than one rank, `to` to the same ranks or densely.
    (C3) rows move by at most the positions of the longest layout.
    ```mlir
    %next = sp.redeal %x dim 1 from <zigzag 4096 on "sp" of 4> to <zigzag 4095 within 4096 on "sp" of 4> by 1 : tensor<1x1024xi32> -> tensor<1x1024xi32>
    ```
  }]>.value;
  dag moved = (ins AnyRankedTensor:$input, I64Attr:$dim, Sp_LayoutAttr:$from, Sp_LayoutAttr:$to,
                       DefaultValuedAttr<I64Attr, "0">:$by);
  let arguments = !con(moved, streams);
  let assemblyFormat = "$input `dim` $dim `from` $from `to` $to (`by` $by^)?" # streamText # " attr-dict `:`"
                       # " type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Sp_RedealOp : Sp_RedealBase<0> { let results = (outs AnyRankedTensor:$result); }
def Sp_RedealStartOp : Sp_RedealBase<1> {
  let results = (outs AnyRankedTensor:$result, Sp_TokenType:$token);
}

class Sp_AllToAllBase<bit start> : Sp_CommOp<"all_to_all", start> {
  let summary = !if(start, "Start of an all-to-all", "Exchange of dealt rows for dealt heads");
  let description = Sp_StartText<start, [{
    On `[batch, rows, heads, feature]`: from rows dealt by `rows` with every head
    to every row, in position order, with the heads that `heads` gives this rank;
    `to_rows` goes back. Where `rows` is split as often as heads are dealt, the
    parts of one ring owner are joined, in its order, which `onto` describes. `heads` deals the query heads; a tensor of fewer heads
    (kv) is cut to those that the rank's query heads read, so neighbours may
    hold the same one.
    ```
    rank      0        1               0        1
    before    a0 a1    b0 b1    after  a0 b0    a1 b1     (rows a b, heads 0 1)
    ```
    (C1) dimensions 1 and 2 have the counts that the layouts say.
    (C2) `onto` has an owner for every part that `rows` splits, and as many
    positions.
    (C3) the tensor has at most the heads that `heads` deals, which fit an i32.
    ```mlir
    %h = sp.all_to_all %q rows <zigzag 4096 on "sp" of 4> heads <contiguous 8 on "sp" of 4> of 8 : tensor<1x1024x8x64xf32> -> tensor<1x4096x2x64xf32>
    ```
  }]>.value;
  dag moved = (ins 4DTensorOf<[AnyType]>:$input, Sp_LayoutAttr:$rows, OptionalAttr<Sp_LayoutAttr>:$onto,
                       Sp_LayoutAttr:$heads, I64Attr:$head_count, UnitAttr:$to_rows);
  let arguments = !con(moved, streams);
  let assemblyFormat = "$input `rows` $rows (`onto` $onto^)? `heads` $heads `of` $head_count (`to_rows` $to_rows^)?" # streamText # " attr-dict `:`"
                       # " type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Sp_AllToAllOp : Sp_AllToAllBase<0> { let results = (outs 4DTensorOf<[AnyType]>:$result); }
def Sp_AllToAllStartOp : Sp_AllToAllBase<1> {
  let results = (outs 4DTensorOf<[AnyType]>:$result, Sp_TokenType:$token);
}

class Sp_AllReduceBase<bit start>
    : Sp_CommOp<"all_reduce", start,
                !if(start, [DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>], [])> {
  let summary = !if(start, "Start of an all-reduce", "Combination of the values of all ranks of some axes");
  let description = Sp_StartText<start, [{
    The group is all ranks that differ only along `axes`, `ranks` of them; each
    value is combined on its own, and all travel together.
    ```
    rank      0   1   2              0      1      2
    before    a   b   c       after  a+b+c  a+b+c  a+b+c
    ```
    (C1) the number of ranks is positive.
    (C2) there are axes, each named once.
    (C3) values are of one element type, and there is one at least.
    (C4) results have the types of the inputs.
    ```mlir
    %s, %t = sp.all_reduce %x, %y sum over ["dp", "sp"] of 8 : tensor<8xf32>, tensor<2x2xf32>
    ```
  }]>.value;
  dag moved = (ins Variadic<AnyRankedTensor>:$inputs, Sp_Reduction:$kind, Sp_AxisListAttr:$axes, I64Attr:$ranks);
  let arguments = !con(moved, streams);
  let assemblyFormat = "$inputs $kind `over` $axes `of` $ranks" # streamText # " attr-dict `:` type($inputs)"
                       # " `` custom<SameTypes>(ref(type($inputs)), type($results))";
  let hasVerifier = 1;
}
def Sp_AllReduceOp : Sp_AllReduceBase<0> { let results = (outs Variadic<AnyRankedTensor>:$results); }
def Sp_AllReduceStartOp : Sp_AllReduceBase<1> {
  let results = (outs Variadic<AnyRankedTensor>:$results, Sp_TokenType:$token);
}

class Sp_ReduceScatterBase<bit start> : Sp_DealtOp<"reduce_scatter", start> {
  let summary = !if(start, "Start of a reduce-scatter", "Combination of whole values, dealt to the ranks");
  let description = Sp_StartText<start, [{
    The ranks' whole values are combined, each on its own; each rank keeps the rows
    of a dimension that its layout gives it. All values travel together.
    ```
    rank      0    1                0      1
    before    ab   cd        after  a+c    b+d
    ```
    (C1) each dimension has the length of its layout before and its largest count after.
    (C2) there is a value at least, and a dimension, a layout and a result for each.
    (C3) layouts deal to the same ranks.
    (C4) values are of one element type.
    ```mlir
    %s = sp.reduce_scatter %x sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<2xf32>
    ```
  }]>.value;
  dag moved = !con((ins Variadic<AnyRankedTensor>:$inputs, Sp_Reduction:$kind), dealt);
  let arguments = !con(moved, streams);
  let assemblyFormat = "$inputs $kind" # dealtText # streamText # " attr-dict `:` type($inputs) `->` type($results)";
  let hasVerifier = 1;
  let extraClassDeclaration = dealtDeclaration;
}
def Sp_ReduceScatterOp : Sp_ReduceScatterBase<0> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCanonicalizeMethod = 1;
  let builders = [
    /// Value i along dimension dims[i], dealt by layouts[i].
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "Reduction":$kind, "::llvm::ArrayRef<int64_t>":$dims,
                   "::llvm::ArrayRef<LayoutAttr>":$layouts)>,
  ];
}
def Sp_ReduceScatterStartOp : Sp_ReduceScatterBase<1> {
  let results = (outs Variadic<AnyRankedTensor>:$results, Sp_TokenType:$token);
}

#endif // SP_IR_SPCOMMUNICATIONOPS_TD
