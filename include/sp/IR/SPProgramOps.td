//===- SPProgramOps.td - What a whole program says ---------------*- tablegen -*-===//

#ifndef SP_IR_SPPROGRAMOPS_TD
#define SP_IR_SPPROGRAMOPS_TD

def Sp_MeshOp : Sp_Op<"mesh", [Symbol]> {
  let summary = "Mesh of ranks";
  let description = [{
    Declares the axes that the program is spread over, outermost first, and which
    of them shard the sequence and the batch. Exists from Plan on. Processes are
    numbered as ranks are, unless `processes` says which factors of the axes their
    numbers count, outermost first: with `["sp:(4)2", "sp:(1)4"]` neighbouring
    processes are neighbours in the ring of 4.

    The ranks of a `folded` mesh are turns of a loop: it stands within
    `sp-accumulate-pipeline`, until `sp-fold-turns` makes that loop.

    (C1) the sequence and the batch axis are axes of the mesh.
    (C2) no other mesh is in the module.
    (C3) `processes` names factors of the axes that count every rank once.
    ```mlir
    sp.mesh @mesh <["dp" = 2, "sp" = 4]> sequence "sp" batch "dp"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sp_MeshAttr:$mesh,
                       OptionalAttr<Sp_AxisAttr>:$sequence, OptionalAttr<Sp_AxisAttr>:$batch,
                       OptionalAttr<Sp_AxisListAttr>:$processes, UnitAttr:$folded);
  let assemblyFormat = "$sym_name $mesh (`sequence` $sequence^)? (`batch` $batch^)? (`processes` $processes^)? (`folded` $folded^)? attr-dict";
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
    /// Number of ranks along an axis; 1 for one that the mesh does not have, and
    /// for none.
    int64_t getAxisSize(std::optional<AxisAttr> axis);
    /// Number of ranks of the whole mesh.
    int64_t getRanks();
  }];
}

def Sp_DocumentsOp : Sp_Op<"documents", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Which document each position of a sequence is of";
  let description = [{
    Positions whose elements in an argument of `@main` are equal are of one
    document; the argument is `[length]` or `[batch, length]`, besides dimensions of 1.
    Documents are known when a run begins, and another run may have others. Exists
    from Import on.

    (C1) the argument exists and holds whole numbers.
    ```mlir
    sp.documents @documents_0 of 4096 in argument 6
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<I64Attr, [IntNonNegative]>:$length,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$argument);
  let assemblyFormat = "$sym_name `of` $length `in` `argument` $argument attr-dict";
}

#endif // SP_IR_SPPROGRAMOPS_TD
