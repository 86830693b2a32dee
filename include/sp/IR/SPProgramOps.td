//===- SPProgramOps.td - What a whole program says ---------------*- tablegen -*-===//

#ifndef SP_IR_SPPROGRAMOPS_TD
#define SP_IR_SPPROGRAMOPS_TD

def Sp_MeshOp : Sp_Op<"mesh", [Symbol]> {
  let summary = "Mesh of ranks";
  let description = [{
    Declares the axes that the program is spread over, outermost first, and which
    of them shard the sequence, the batch, and heads and hidden features, as a
    `tensor` axis does. Exists from Plan on. Processes are
    numbered as ranks are, unless `processes` says which factors of the axes their
    numbers count, outermost first: with `["sp:(4)2", "sp:(1)4"]` neighbouring
    processes are neighbours in the ring of 4.

    The ranks of a `folded` mesh are turns of a loop: it stands within
    `sp-accumulate-pipeline`, until `sp-fold-turns` makes that loop.

    (C1) the sequence, the batch and the tensor axis are axes of the mesh.
    (C2) no other mesh is in the module.
    (C3) `processes` names factors of the axes that count every rank once.
    ```mlir
    sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sp_MeshAttr:$mesh,
                       OptionalAttr<Sp_AxisAttr>:$sequence, OptionalAttr<Sp_AxisAttr>:$batch,
                       OptionalAttr<Sp_AxisAttr>:$tensor,
                       OptionalAttr<Sp_AxisListAttr>:$processes, UnitAttr:$folded);
  let assemblyFormat = "$sym_name $mesh (`sequence` $sequence^)? (`batch` $batch^)? (`tensor` $tensor^)? (`processes` $processes^)? (`folded` $folded^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The coordinate along an axis is (rank / stride) mod size.
    struct Factor {
      int64_t size = 1;
      int64_t stride = 1;
    };
    /// Nothing for an axis that the mesh does not have, or that is not divided so.
    std::optional<Factor> findFactor(AxisAttr axis);
    bool hasAxis(::llvm::StringRef name);
    /// The whole axis where a part is all of it.
    AxisAttr simplify(AxisAttr part);
    /// An axis, "sp", or a part of one, "sp:(2)4"; null where there is none such.
    AxisAttr parseAxis(::llvm::StringRef text);
    /// What two factors of an axis that follow each other are together; null for
    /// others.
    AxisAttr joinFactors(AxisAttr outer, AxisAttr inner);
    /// Number of ranks along an axis; 1 for one that the mesh does not have, and
    /// for none.
    int64_t getAxisSize(std::optional<AxisAttr> axis);
    /// Number of ranks of the whole mesh.
    int64_t getRanks();
  }];
}

def Sp_DocumentsOp : Sp_Op<"documents", [Symbol, IsolatedFromAbove, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Which document each position of a sequence is of";
  let description = [{
    Positions that have equal numbers are of one document. The numbers are an argument
    of `@main`, or what the body computes of some: `[length]` or `[batch, length]`,
    besides dimensions of 1. They are known when a run begins, and another run may
    have others. Exists from Import on; Codegen makes a program of the bodies.

    (C1) the arguments exist.
    (C2) without a body there is one argument, of whole numbers.
    (C3) a body takes as many values as there are arguments and yields whole numbers,
    so many for each row of a batch.
    ```mlir
    sp.documents @documents_0 of 4096 in arguments [6]
    sp.documents @documents_1 of 4096 in arguments [7] {
    ^bb0(%positions: tensor<4096xi32>):
      ...
      sp.yield %starts : tensor<4096xi32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<I64Attr, [IntPositive]>:$length,
                       DenseI64ArrayAttr:$arguments);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `of` $length `in` `arguments` $arguments attr-dict-with-keyword ($body^)?";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether numbers are computed of the arguments.
    bool isComputed() { return !getBody().empty(); }
    /// What the body yields.
    ::mlir::Value getNumbers() { return getBody().front().getTerminator()->getOperand(0); }
  }];
}

def Sp_YieldOp : Sp_Op<"yield", [Pure, Terminator, HasParent<"DocumentsOp">]> {
  let summary = "What a body of documents computes";
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // SP_IR_SPPROGRAMOPS_TD
