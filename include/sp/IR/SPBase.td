//===- SPBase.td - The sp dialect and its attributes -------------*- tablegen -*-===//

#ifndef SP_IR_SPBASE_TD
#define SP_IR_SPBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Sp_Dialect : Dialect {
  let name = "sp";
  let cppNamespace = "::mlir::sp";
  let summary = "Sequence-parallel attention, from meaning to schedule";
  let description = [{
    The dialect carries one program through every stage of the compiler:
    `sp.attention` says what the model means, `#sp.plan` what will be done,
    `sp.attend` and the communication ops what every rank does, and
    `sp.launch`, `sp.gemm`, the `_start` ops and `sp.wait` when.

    Tensors are in canonical order batch, sequence, head, feature.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
}

class Sp_Attr<string name, string attrMnemonic> : AttrDef<Sp_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Sp_Enum<string name, string sum, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, sum, cases> {
  let cppNamespace = "::mlir::sp";
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Sp_Stream : Sp_Enum<"Stream", "What runs in order, beside the others", [
  I32EnumAttrCase<"Compute", 0, "compute">,
  I32EnumAttrCase<"Comm", 1, "comm">,
  I32EnumAttrCase<"Back", 2, "back">,
  I32EnumAttrCase<"In", 3, "in">,
  I32EnumAttrCase<"Out", 4, "out">]>;

def Sp_LayoutKind : Sp_Enum<"LayoutKind", "How positions are dealt to ranks", [
  I32EnumAttrCase<"Contiguous", 0, "contiguous">,
  I32EnumAttrCase<"Zigzag", 1, "zigzag">,
  I32EnumAttrCase<"Striped", 2, "striped">,
  I32EnumAttrCase<"Batch", 3, "batch">]>;

def Sp_Empty : Sp_Enum<"Empty", "What a row without visible keys gives", [
  I32EnumAttrCase<"Nan", 0, "nan">,
  I32EnumAttrCase<"Zero", 1, "zero">,
  I32EnumAttrCase<"Mean", 2, "mean">]>;

def Sp_Placement : Sp_Enum<"Placement", "Which factor takes neighbouring ranks", [
  I32EnumAttrCase<"HeadFirst", 0, "head_first">,
  I32EnumAttrCase<"ContextFirst", 1, "context_first">]>;

def Sp_SoftmaxForm : Sp_Enum<"SoftmaxForm", "What a softmax state is", [
  I32EnumAttrCase<"Mean", 0, "mean">,
  I32EnumAttrCase<"SumsBase2", 1, "sums_base_2">,
  I32EnumAttrCase<"SumsBaseE", 2, "sums_base_e">]>;

def Sp_TermKind : Sp_Enum<"TermKind", "What a score function reads an element of a term for", [
  I32EnumAttrCase<"PerQuery", 0, "per_query">,
  I32EnumAttrCase<"PerKey", 1, "per_key">,
  I32EnumAttrCase<"PerHead", 2, "per_head">,
  I32EnumAttrCase<"Pair", 3, "pair">,
  I32EnumAttrCase<"Table", 4, "table">]>;

def Sp_Space : Sp_Enum<"Space", "Memory of a rank", [
  I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Constants", 1, "constants">,
  I32EnumAttrCase<"Far", 2, "far">]>;

def Sp_Activation : Sp_Enum<"Activation", "What a product's elements go through", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">]>;

def Sp_Reduction : Sp_Enum<"Reduction", "How partial values combine", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Mul", 3, "mul">,
  I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]>;

//===----------------------------------------------------------------------===//
// Mesh, layouts, shardings
//===----------------------------------------------------------------------===//

def Sp_MeshAxisAttr : Sp_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Name and size of a mesh axis";
  let parameters = (ins StringRefParameter<"axis name">:$name, "int64_t":$size);
  let assemblyFormat = "`` $name `=` $size";
}

def Sp_MeshAttr : Sp_Attr<"Mesh", "axes"> {
  let summary = "Axes of a mesh, outermost first";
  let description = [{
    A rank's coordinates are the digits of its number, the last axis counting
    fastest: in `<["dp" = 2, "sp" = 4]>` rank 5 is dp 1, sp 1.
  }];
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes);
  let assemblyFormat = "`<` `[` $axes `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// As users write it: "dp=2,sp=4".
    std::string getText() const;
  }];
}

def Sp_AxisAttr : Sp_Attr<"Axis", "axis"> {
  let summary = "Axis of the mesh, or a factor of one";
  let description = [{
    `"sp"` is the whole axis, `"sp:(2)4"`, as Shardy writes it, the factor of
    size 4 that varies below 2 equal parts of it: with 16 ranks of "sp" the
    coordinate is `(sp / 2) mod 4`.
  }];
  let parameters = (ins StringRefParameter<"axis of the mesh">:$name, DefaultValuedParameter<"int64_t", "1">:$above,
                        DefaultValuedParameter<"int64_t", "0", "of a factor, 0 for the whole axis">:$size);
  let assemblyFormat = "`` custom<AxisText>($name, $above, $size)";
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{ return $_get($_ctxt, name, 1, 0); }]>];
  let extraClassDeclaration = [{
    bool isWhole() const { return getSize() == 0; }
    static AxisAttr fromText(::mlir::MLIRContext *context, ::llvm::StringRef text);
    /// Of an axis of `whole` ranks the factor of `size` below `above` parts.
    static AxisAttr getFactor(AxisAttr axis, int64_t whole, int64_t above, int64_t size);
    /// Whether ranks that differ along both are there.
    bool overlaps(AxisAttr other) const;
    /// Whether both are made of the same factors, or of other axes.
    bool goesWith(AxisAttr other) const;
    /// As it is printed, without quotes.
    std::string getText() const;
  }];
}

def Sp_AxisListAttr : Sp_Attr<"AxisList", "axis_list"> {
  let summary = "Axes, outermost first";
  let parameters = (ins OptionalArrayRefParameter<"AxisAttr">:$axes);
  let assemblyFormat = "`` `[` (`]`) : ($axes^ `]`)?";
  let extraClassDeclaration = [{
    /// As users write it: ["dp", "sp"].
    std::string getText() const;
  }];
}

def Sp_TermKindsAttr : Sp_Attr<"TermKinds", "term_kinds"> {
  let summary = "Kinds of a score function's terms, which ascend";
  let parameters = (ins OptionalArrayRefParameter<"TermKind">:$kinds);
  let assemblyFormat = "`` `[` (`]`) : ($kinds^ `]`)?";
}

def Sp_LayoutAttr : Sp_Attr<"Layout", "layout"> {
  let summary = "Positions of every rank along a mesh axis";
  let description = [{
    `<zigzag 4096 on "sp" of 4>`: 4 096 positions dealt in zigzag order to the 4
    ranks of axis "sp". The same form deals heads. Lengths need not divide.
    A layout of 1 rank is dense: every position, in order. With `split 2` a ring
    of half the ranks is dealt to, and the rows of each ring owner are cut into 2
    parts, one a rank: `<zigzag 4096 on "sp" of 8 split 2>`. The first positions
    of a longer dimension may lie where those of the longer one do: `<zigzag 4095
    within 4096 on "sp" of 4>`. With `blocks 8` the positions are cut into 8 blocks,
    of which every rank has a part, one after the other; `<zigzag 4096 on "sp" of 4
    turns 8>` gives the parts of each block to owners of their own: in turn t rank r
    is owner 4 t + r. `<batch 4096 on "sp" of 8 holds 640>` deals by the documents
    of a batch, at most 640 positions a rank: nobody knows which before the batch is
    there. Its blocks are of a rank's rows. The algebra of layouts is `sprt/algebra/Layout.h`.
  }];
  let parameters = (ins EnumParameter<Sp_LayoutKind>:$kind, "int64_t":$length,
                        "AxisAttr":$axis, "int64_t":$ranks,
                        DefaultValuedParameter<"int64_t", "1">:$split,
                        DefaultValuedParameter<"int64_t", "0", "of a longer dimension, else 0">:$within,
                        DefaultValuedParameter<"int64_t", "1">:$blocks, DefaultValuedParameter<"int64_t", "1">:$turns,
                        DefaultValuedParameter<"int64_t", "0", "of a batch, else 0">:$holds);
  let assemblyFormat = "`<` $kind $length (`within` $within^)? `on` $axis `of` $ranks (`split` $split^)?"
                       " (`blocks` $blocks^)? (`turns` $turns^)? (`holds` $holds^)? `>`";
  let builders = [AttrBuilder<(ins "LayoutKind":$kind, "int64_t":$length, "AxisAttr":$axis, "int64_t":$ranks,
                                   CArg<"int64_t", "1">:$split, CArg<"int64_t", "0">:$holds), [{
    return $_get($_ctxt, kind, length, axis, ranks, split, 0, 1, 1, holds);
  }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Every position of a dimension, on no axis.
    static LayoutAttr getDense(::mlir::MLIRContext *context, int64_t length);
    /// Rows of the rank that holds most.
    int64_t getMaxCount() const;
    /// Whether one owner has every position, in order.
    bool isDense() const { return getOwners() == 1; }
    /// Whether the documents of a batch say who holds what.
    bool isOfBatch() const { return getKind() == LayoutKind::Batch; }
    /// Owners of rows: for each turn as many as there are ranks.
    int64_t getOwners() const { return getRanks() * getTurns(); }
    /// The same rows by turn, where the layout has blocks.
    LayoutAttr getByTurn() const;
    /// Those of all turns together, in blocks.
    LayoutAttr getOfAllTurns() const;
    /// How the positions of one block, or of one turn, are dealt.
    LayoutAttr getBlock() const;
    /// The layout of all positions that are dealt.
    LayoutAttr getWhole() const;
    /// The first `length` of them where they are; null where there are fewer.
    LayoutAttr getFirst(int64_t length) const;
  }];
}
def Sp_LayoutsAttr : TypedArrayAttrBase<Sp_LayoutAttr, "layouts">;

def Sp_HeadPartAttr : Sp_Attr<"HeadPart", "head_part"> {
  let summary = "Heads that a tensor axis gives a rank";
  let description = [{
    `<kv <contiguous 8 on "tp" of 4> each <contiguous 4 on "" of 1>>`: of 8 kv heads
    a rank has 2, and of the query heads that read each of them all 4. Where there are
    fewer kv heads than ranks, the query heads of one are dealt by a factor of the
    axis, and each of its ranks has the kv head. The heads of a rank follow each
    other; one that is given fewer than others has padding behind its own.
  }];
  let parameters = (ins "LayoutAttr":$kv, "LayoutAttr":$each);
  let assemblyFormat = "`<` `kv` $kv `each` $each `>`";
  let extraClassDeclaration = [{
    /// How an axis of `ranks` deals the heads of an attention so that the rank with
    /// most has fewest; null where it cannot.
    static HeadPartAttr choose(AxisAttr axis, int64_t ranks, int64_t heads, int64_t kvHeads);
    /// Query heads and kv heads of a rank, padding included.
    int64_t getHeads() const { return getKvHeads() * getEach().getMaxCount(); }
    int64_t getKvHeads() const { return getKv().getMaxCount(); }
    /// Those of all ranks, and the padding behind the last one's.
    int64_t getWholeHeads() const;
    int64_t getWholeKvHeads() const { return getFirstKvHead(getKv().getRanks() - 1) + getKvHeads(); }
    /// Numbers that the heads of a rank begin with, which is an owner of each layout.
    int64_t getFirstKvHead(int64_t kvOwner) const;
    int64_t getFirstHead(int64_t kvOwner, int64_t eachOwner) const;
    /// Dimensions of query heads and of kv heads.
    DimAttr getQueryDim() const;
    DimAttr getKvDim() const;
  }];
}

def Sp_AtomAttr : Sp_Attr<"Atom", "atom"> {
  let summary = "Factor of a dimension, whole or dealt to ranks";
  let genVerifyDecl = 1;
  let parameters = (ins "int64_t":$size, OptionalParameter<"::mlir::sp::LayoutAttr">:$layout);
  let assemblyFormat = "`` $size (`by` $layout^)?";
}

def Sp_DimAttr : Sp_Attr<"Dim", "dim"> {
  let summary = "Row-major product of atoms";
  let parameters = (ins OptionalArrayRefParameter<"AtomAttr">:$atoms);
  let assemblyFormat = "`[` (`]`) : ($atoms^ `]`)?";
}

def Sp_ShardingAttr : Sp_Attr<"Sharding", "sharding"> {
  let summary = "How a global tensor is cut for the ranks";
  let description = [{
    One entry a dimension; each dimension is a row-major product of atoms, so
    that a reshape which joins batch and sequence keeps its sharding:
    `<[[2, 4096 by <zigzag 4096 on "sp" of 4>], [512]]>` is `tensor<8192x512xf32>`
    of which a rank holds `tensor<2048x512xf32>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"DimAttr">:$dims);
  let assemblyFormat = "`<` `[` (`]`) : ($dims^ `]`)? `>`";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getLocalShape() const;
    bool isReplicated() const;
    static ShardingAttr getReplicated(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape);
  }];
}

//===----------------------------------------------------------------------===//
// Masks and plans
//===----------------------------------------------------------------------===//

def Sp_BandAttr : Sp_Attr<"Band", "band"> {
  let summary = "Band of visible (query, key) pairs in global positions";
  let description = [{
    Key j is visible to query i iff `q0 <= i < q1`, `k0 <= j < k1` and
    `i + lo <= j <= i + hi`. Bands of one mask are disjoint. In a `uniform` band
    every score is 0, which is what a large finite fill makes of an empty row.
  }];
  let parameters = (ins "int64_t":$q0, "int64_t":$q1, "int64_t":$k0, "int64_t":$k1,
                        "int64_t":$lo, "int64_t":$hi, DefaultValuedParameter<"bool", "false">:$uniform);
  let assemblyFormat = [{
    `<` `q` $q0 `to` $q1 `,` `k` $k0 `to` $k1 `,` `lo` custom<Bound>($lo) `,` `hi` custom<Bound>($hi)
    `` custom<Uniform>($uniform) `` `>`
  }];
}
def Sp_BandsAttr : TypedArrayAttrBase<Sp_BandAttr, "disjoint bands">;

def Sp_DocumentsAttr : Sp_Attr<"Documents", "documents"> {
  let summary = "Documents within which alone queries see keys";
  let description = [{
    The `sp.documents` that say which document each query is of, and each key. A
    pair of two documents counts for nothing: bands show less than they say once a
    batch is known, and what computes or moves the rest may leave it out.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$queries, "::mlir::FlatSymbolRefAttr":$keys);
  let assemblyFormat = "`<` `queries` $queries `keys` $keys `>`";
  let extraClassDeclaration = [{
    /// Of keys as queries and queries as keys.
    DocumentsAttr getTransposed() const { return get(getContext(), getKeys(), getQueries()); }
  }];
}

def Sp_ReadersAttr : Sp_Attr<"Readers", "readers"> {
  let summary = "Who needs the blocks that a ring hands on";
  let description = [{
    Rows of every rank, and which pairs of one of them and of a row of a block
    count: queries, which see keys, or keys, which queries see. A rank needs the
    blocks with which its own rows share a pair.
  }];
  let parameters = (ins "LayoutAttr":$rows, "::mlir::ArrayAttr":$bands, OptionalParameter<"DocumentsAttr">:$documents);
  let assemblyFormat = "`<` `rows` $rows `bands` $bands (`documents` $documents^)? `>`";
}

def Sp_PlanAttr : Sp_Attr<"Plan", "plan"> {
  let summary = "How an attention is spread over a mesh axis";
  let description = [{
    `heads * outer * inner * gather * merge` is the size of the axis: `heads` ranks exchange heads for rows, a ring
    has `outer` windows of `inner` ranks, `gather` ranks gather keys and values, `merge` ranks gather queries, attend
    them to keys of their own and merge the states. Strategies are names of such factors (sp/Plan/Strategies.h). Ranks
    count heads fastest, then inner, then outer: `"sp:(1)outer"`, `"sp:(outer)inner"`, `"sp:(outer*inner)heads"` are
    the factors of the axis. `placement` says which of them takes neighbouring processes when the program is started.
    With `groups` heads are exchanged, or gathered, in that many groups, one while another is computed. A
    `bidirectional` ring turns both ways at once: blocks go half of the way on and half of it back. For gradients a
    ring hands on keys and values, or with `queries_travel` queries and what belongs to them; the gradients of what it
    hands on follow. In a `direct` ring blocks go straight from their owner to each rank that sees some of their rows,
    and with those rows alone, gradients straight back. Without both a ring and an exchange of heads, rows are dealt
    to a ring of `ranks / row_split` whose owners' rows are cut into `row_split` parts, as 2D deals them. With `turns`
    the positions are cut into that many blocks, of which every rank has a part; queries of one block after another
    meet all keys. A layout by batches `holds` so many positions a rank, and its ring has the ranks that share a
    document.
  }];
  let parameters = (ins "AxisAttr":$axis, "int64_t":$heads, "int64_t":$outer, "int64_t":$inner, "int64_t":$gather,
                        EnumParameter<Sp_LayoutKind>:$layout, EnumParameter<Sp_Placement>:$placement,
                        DefaultValuedParameter<"int64_t", "1">:$groups, DefaultValuedParameter<"bool", "false">:$bidirectional,
                        DefaultValuedParameter<"bool", "false">:$queries_travel,
                        DefaultValuedParameter<"int64_t", "1">:$turns, DefaultValuedParameter<"int64_t", "0">:$holds,
                        DefaultValuedParameter<"int64_t", "1">:$row_split, DefaultValuedParameter<"bool", "false">:$direct,
                        DefaultValuedParameter<"int64_t", "1">:$merge);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRanks() const { return getHeads() * getOuter() * getInner() * getGather() * getMerge(); }
    /// Ranks of the ring, 1 where there is none.
    int64_t getRing() const { return getOuter() * getInner(); }
    /// Hops of a block on and back in a turn of the inner ring: with its own inner - 1 blocks visit a rank.
    int64_t getHopsOn() const { return getBidirectional() ? getInner() / 2 : getInner() - 1; }
    int64_t getHopsBack() const { return getInner() - 1 - getHopsOn(); }
    /// The same plan where queries travel, or keys do; and one whose ring is direct.
    PlanAttr withQueriesTravel(bool travel) const; PlanAttr withDirect() const;
    /// Whether heads are exchanged beside a ring, whose owners' rows their ranks share.
    bool sharesRingRows() const { return getRing() > 1 && getHeads() > 1; }
    /// Parts that rows of a ring owner are cut into when a sequence is dealt.
    int64_t getSplit() const { return sharesRingRows() ? getHeads() : getRowSplit(); }
    /// How the positions of a sequence are dealt to all ranks.
    LayoutAttr getRows(int64_t length) const;
    /// The same for queries: whole where states are merged and there are fewer of them than ranks.
    LayoutAttr getQueryRows(int64_t length) const;
    /// How they are dealt to the ring, once heads are exchanged for rows.
    LayoutAttr getRingRows(int64_t length) const;
    /// The same, of which each turn has a part.
    LayoutAttr getRingRowsByTurn(int64_t length) const;
    /// How `count` query heads are dealt in exchange.
    LayoutAttr getHeadsLayout(int64_t count) const;
    /// The kv heads [first, first + count) of a group, of `kvHeads`.
    std::pair<int64_t, int64_t> getKvGroup(int64_t group, int64_t kvHeads) const;
    /// Factors of the axis.
    AxisAttr getHeadsAxis() const; AxisAttr getRingAxis() const;
    AxisAttr getOuterAxis() const;
    AxisAttr getInnerAxis() const;
  }];
}

def Sp_PlaceAttr : Sp_Attr<"Place", "place"> {
  let summary = "Where a value lies on a rank";
  let description = [{
    `<arena affine_map<(d0) -> (4096 + (d0 mod 2) * 512)>>` is the byte at which
    the value begins, as a function of the counters of the `scf.for` loops around
    it, outermost first: here it lies in two slots in turn. Constants lie in the
    artifact's data, values of a type with `#sp.far` in far memory, all else in the
    arena.
  }];
  let parameters = (ins EnumParameter<Sp_Space>:$space, "::mlir::AffineMapAttr":$offset);
  let assemblyFormat = "`<` $space $offset `>`";
}

def Sp_FarAttr : Sp_Attr<"Far", "far"> {
  let summary = "Of a tensor's type: it lies in far memory";
}

class Sp_Type<string name, string typeMnemonic> : TypeDef<Sp_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Sp_TokenType : Sp_Type<"Token", "token"> {
  let summary = "Completion of an asynchronous operation";
}

class Sp_Op<string mnemonic, list<Trait> traits = []> : Op<Sp_Dialect, mnemonic, traits>;

#endif // SP_IR_SPBASE_TD
