//===- SPFarOps.td - Far memory ----------------------------------*- tablegen -*-===//
//
// Values of type `tensor<..., #sp.far>` lie in the far memory of a rank: that of the
// host beside a GPU, a second region or a file beside a CPU. Only these ops and what
// carries values on take them; both exist from Memory on, on streams of their own.

#ifndef SP_IR_SPFAROPS_TD
#define SP_IR_SPFAROPS_TD

class Sp_FarCopyOp<string mnemonic, string own> : Sp_Op<mnemonic, [Sp_CommunicationOpInterface]> {
  let arguments = (ins AnyRankedTensor:$input, DefaultValuedAttr<Sp_Stream, own>:$stream);
  let results = (outs AnyRankedTensor:$result, Sp_TokenType:$token);
  let assemblyFormat = "$input (`on` $stream^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Sp_EvictStartOp : Sp_FarCopyOp<"evict_start", "Stream::Out"> {
  let summary = "Start of a copy to far memory";
  let description = [{
    What waits long for its next use lies in far memory meanwhile. Where the value lay
    may be overwritten only after the wait.
    (C1) the result is the operand in far memory.
    ```mlir
    %h, %gone = sp.evict_start %x : tensor<1x4096x64xf32> -> tensor<1x4096x64xf32, #sp.far>
    ```
  }];
}

def Sp_FetchStartOp : Sp_FarCopyOp<"fetch_start", "Stream::In"> {
  let summary = "Start of a copy from far memory";
  let description = [{
    A value comes back to a place of its own, ahead of its next use.
    (C1) the operand is the result in far memory.
    ```mlir
    %x, %came = sp.fetch_start %h : tensor<1x4096x64xf32, #sp.far> -> tensor<1x4096x64xf32>
    ```
  }];
}

def Sp_EvictRowsStartOp : Sp_Op<"evict_rows_start", [Sp_CommunicationOpInterface, AllTypesMatch<["whole", "result"]>,
                                                     DeclareOpInterfaceMethods<Sp_ContinuationOpInterface>]> {
  let summary = "Start of a copy of rows to a stack in far memory";
  let description = [{
    The stack in far memory with `block` as its rows `at` and after it of dimension
    `dim`, as a scan leaves what each of its turns keeps. Where the block lay may be
    overwritten only after the wait.
    (C1) types agree but for `dim`, of which the block has at most as many rows, and
    only the stack is far.
    (C2) dimensions before `dim` are 1, so that the rows are dense.
    (C3) `at` is a constant or an affine function of counters of loops around it.
    ```mlir
    %h1, %gone = sp.evict_rows_start %x into %h at %i dim 0 : tensor<1x4096x64xf32>, tensor<24x4096x64xf32, #sp.far>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$block, AnyRankedTensor:$whole, Index:$at,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, DefaultValuedAttr<Sp_Stream, "Stream::Out">:$stream);
  let results = (outs AnyRankedTensor:$result, Sp_TokenType:$token);
  let assemblyFormat = "$block `into` $whole `at` $at `dim` $dim (`on` $stream^)? attr-dict `:` type($block) `,` type($whole)";
  let hasVerifier = 1;
}

def Sp_FetchRowsStartOp : Sp_Op<"fetch_rows_start", [Sp_CommunicationOpInterface]> {
  let summary = "Start of a copy of rows of a stack in far memory";
  let description = [{
    Rows `at` and after it of dimension `dim` come back to a place of their own, ahead
    of their next use: those of the next turn of a scan while one goes on.
    (C1) to (C3) are those of `sp.evict_rows_start`.
    ```mlir
    %x, %came = sp.fetch_rows_start %h at %i dim 0 : tensor<24x4096x64xf32, #sp.far> -> tensor<1x4096x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$whole, Index:$at, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       DefaultValuedAttr<Sp_Stream, "Stream::In">:$stream);
  let results = (outs AnyRankedTensor:$result, Sp_TokenType:$token);
  let assemblyFormat = "$whole `at` $at `dim` $dim (`on` $stream^)? attr-dict `:` type($whole) `->` type($result)";
  let hasVerifier = 1;
}

#endif // SP_IR_SPFAROPS_TD
