//===- Sdy.td - Shardings as Shardy writes them ---------------------------===//

#ifndef SP_SDY
#define SP_SDY

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sp/StableHLO/Traits.td"
include "sp/StableHLO/Types.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::mlir::sdy";
  let summary = "Meshes and shardings as Shardy writes them";
  let description = [{
    What JAX prints for a mesh, for the shardings of arguments and results, for
    `with_sharding_constraint` and for `shard_map`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Axis of a mesh";
  let description = "Written `\"sp\"=4` in a mesh.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Devices as a grid with named axes";
  let description = [{
    Example: `#sdy.mesh<["data"=2, "sp"=4]>`, with another order of devices
    `#sdy.mesh<["x"=2], device_ids=[1, 0]>`.

    (C1) Axis names differ and sizes are positive.
    (C2) Device numbers, where given, are a permutation of 0..n-1; a mesh without
    axes may name one device.
  }];
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$deviceIds);
  let extraClassDeclaration = [{
    /// The axis of that name, or null.
    MeshAxisAttr getAxis(::llvm::StringRef name) const;
    bool hasAxis(::llvm::StringRef name) const { return bool(getAxis(name)); }
    /// Size of the axis of that name, which must exist.
    int64_t getAxisSize(::llvm::StringRef name) const;
    /// Number of devices.
    int64_t getTotalSize() const;
  }];
  let genVerifyDecl = 1;
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Factor of an axis";
  let description = [{
    `(2)4` is the factor of size 4 below a factor of size 2, major to minor.
  }];
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "Reference to an axis or to a factor of it";
  let description = "Written `\"sp\"` or `\"sp\":(2)4`.";
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalParameter<"SubAxisInfoAttr">:$subAxisInfo);
  let extraClassDeclaration = [{
    /// Size of the axis in that mesh, or of the factor.
    int64_t getSize(MeshAttr mesh) const;
  }];
}

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "Axes that shard one dimension";
  let description = [{
    Major to minor: `{"data", "sp"}`. Open (`?`) where more may be added;
    `p1` is a priority.
  }];
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "bool":$isClosed,
                        OptionalParameter<"std::optional<int64_t>">:$priority);
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "Sharding of a tensor";
  let description = "Example: `#sdy.sharding<@mesh, [{\"data\"}, {\"sp\", ?}], "
                    "replicated={\"x\"}>`. The mesh is a symbol or written in place.";
  let parameters = (ins "Attribute":$meshOrRef,
                        ArrayRefParameter<"DimensionShardingAttr">:$dimShardings,
                        ArrayRefParameter<"AxisRefAttr">:$replicatedAxes,
                        ArrayRefParameter<"AxisRefAttr">:$unreducedAxes);
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// Name of the mesh, empty when the mesh is written in place.
    ::llvm::StringRef getMeshName() const;
    /// The mesh, looked up from `op`; null when there is none of that name.
    MeshAttr getMesh(Operation *op) const;
    /// No dimension is sharded.
    bool isFullyReplicated() const;
  }];
}

def Sdy_TensorShardingPerValue
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "Shardings of several tensors";
  let description = "Example: `#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>`.";
  let parameters = (ins ArrayRefParameter<"TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes whose communication is written by hand";
  let description = "Written `{\"sp\"}`.";
  let parameters = (ins ArrayRefParameter<"StringAttr">:$axes);
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection",
    "Where shardings may travel", [
      I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>,
      I32EnumAttrCase<"BACKWARD", 2>, I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::mlir::sdy";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"ModuleOp">]> {
  let summary = "Named mesh";
  let description = "Example: `sdy.mesh @mesh = <[\"data\"=2, \"sp\"=4]>`.";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, ConstantLike,
                                         AllTypesMatch<["value", "output"]>]> {
  let summary = "Constant that shardings do not tie together";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLO_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

class Sdy_ShardingOp<string mnemonic, string theSummary, list<Trait> traits = []>
    : Sdy_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType,
                                    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
                                   traits)> {
  let summary = theSummary;
  let description = [{
    (C1) The sharding fits the tensor, and its axes are of its mesh.
  }];
  let arguments = (ins HLO_Tensor:$input, Sdy_TensorSharding:$sharding);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}
def Sdy_ShardingConstraintOp
    : Sdy_ShardingOp<"sharding_constraint", "Wished sharding of a value", [HLO_Identity]>;
def Sdy_ReshardOp : Sdy_ShardingOp<"reshard", "Value in another sharding">;

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Value that shares its sharding with others of the group";
  let arguments = (ins HLO_Tensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id````=```$group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp
    : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "Value that stops shardings from travelling";
  let arguments = (ins HLO_Tensor:$input,
                       Sdy_PropagationDirection:$allowed_direction);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction````=```$allowed_direction attr-dict `:` type($input)
  }];
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation",
    [IsolatedFromAbove, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Program of one device, as shard_map writes it";
  let description = [{
    (C1) A sharding per operand and per result.
    (C2) The body's argument and returned types are the operands' and results'
    with the manual axes divided out.
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$tensors,
                       Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings,
                       Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<HLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` `(` $tensors `)` `in_shardings````=```
      custom<StrippedShardings>($in_shardings) `out_shardings````=```
      custom<StrippedShardings>($out_shardings) `manual_axes````=```
      $manual_axes custom<SingleBlockRegion>($body) attr-dict `:`
      functional-type($tensors, results)
  }];
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation",
    [IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "Program with a name and shardings at its border";
  let arguments = (ins StrAttr:$name, Variadic<HLO_Tensor>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<HLO_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
      (`in_shardings````=```custom<StrippedShardings>($in_shardings)^)?
      (`out_shardings````=```custom<StrippedShardings>($out_shardings)^)?
      custom<SingleBlockRegion>($body) attr-dict `:`
      functional-type($operands, results)
  }];
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Values of a region";
  let arguments = (ins Variadic<HLO_Tensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif // SP_SDY
