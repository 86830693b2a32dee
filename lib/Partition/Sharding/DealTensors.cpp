//===- DealTensors.cpp - Tensor parallelism: hidden features --------------===//
//
// A tensor axis deals the heads of attentions, and with them columns of the
// weights that make queries, keys and values and rows of the one that the
// result meets (Seeds.cpp). The rest is found by what lies between two weights:
//
//   n = dot(x, w1)    [T, D] x [D, F]    columns of w1
//   y = dot(h, w2)    [T, F] x [F, D]    rows of w2; y is a sum over ranks
//
// A class of dimensions is dealt where ranks share more work, or weights, than
// they send for it. Megatron-LM, arXiv:1909.08053, deals these by name.
//
//===----------------------------------------------------------------------===//

#include "Sharding/CheckInput.h"
#include "Sharding/DimensionClasses.h"
#include "Sharding/Seeds.h"
#include "Sharding/SplitParts.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALTENSORSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Work that outweighs a byte sent, on ranks that share a memory.
constexpr double kFlopsOfByte = 8;

/// A class, and what it is worth to deal it.
struct Hidden {
  const DimensionClass *dims;
  int64_t weightBytes = 0; ///< of arguments that have it
  int64_t sentBytes = 0;
  double flopsOfByte() const {
    return dims->flops / std::max<double>(double(sentBytes), 1);
  }
};

struct DealTensorsPass : mlir::sp::impl::DealTensorsPassBase<DealTensorsPass> {
  void runOnOperation() override {
    mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> found = findProgram(getOperation());
    if (!mesh || failed(found) || failed(checkInput(*found)))
      return signalPassFailure();
    if (mesh.getAxisSize(mesh.getTensor()) == 1)
      return;
    func = *found;
    separateUses(func);
    splitFused();
    ShardingPropagation dealt(func);
    dealAttentions(dealt);
    DimensionClasses classes(func, dealt);
    SmallVector<Hidden> features = findHidden(classes, dealt);
    for (bool isJoint : {false, true}) {
      for (const Hidden &hidden : features)
        if (hidden.dims->isJoint == isJoint)
          deal(hidden, dealt);
      dealt.run();
    }
    for (BlockArgument argument : func.getArguments())
      mark(argument, dealt);
  }

private:
  void dealAttentions(ShardingPropagation &dealt) {
    tieDonated(func, dealt);
    Seeds(func, mesh).seedAttentions(dealt);
    dealt.run();
  }

  /// What one product makes of several weights that lie in one.
  void splitFused() {
    ShardingPropagation dealt(func);
    dealAttentions(dealt);
    splitParts(func, [&](Value part, unsigned dim) {
      return sharesAxis(dealt.dimsOf(part)[dim], tensorDim());
    });
  }

  DimAttr tensorDim() {
    return DimAttr::get(&getContext(),
                        AtomAttr::get(&getContext(), 0, layoutOf(1)));
  }

  LayoutAttr layoutOf(int64_t size) {
    return LayoutAttr::get(&getContext(), LayoutKind::Contiguous, size,
                           *mesh.getTensor(),
                           mesh.getAxisSize(mesh.getTensor()));
  }

  bool isSaid(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    return func.getArgAttr(number, kSharding) ||
           func.getArgAttr(number, "sdy.sharding");
  }

  /// Those of weights between which nothing else is dealt, the best first.
  SmallVector<Hidden> findHidden(const DimensionClasses &classes,
                                 ShardingPropagation &dealt) {
    SmallVector<Hidden> found;
    for (const DimensionClass &dims : classes.all()) {
      Hidden hidden{&dims, 0, 2 * dims.reducedBytes + dims.gatheredBytes};
      bool isFree = dims.size >= mesh.getAxisSize(mesh.getTensor());
      for (auto [value, dim] : dims.places) {
        isFree &= !isDealt(dealt.dimsOf(value)[dim]);
        auto argument = dyn_cast<BlockArgument>(value);
        if (!argument || argument.getOwner() != &func.getBody().front())
          continue;
        isFree &= !isSaid(argument);
        if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
          hidden.weightBytes += storageBytes(value.getType());
      }
      bool pays = hidden.flopsOfByte() >= kFlopsOfByte ||
                  hidden.weightBytes > hidden.sentBytes;
      if (isFree && hidden.weightBytes > 0 && pays)
        found.push_back(hidden);
    }
    llvm::stable_sort(found, [](const Hidden &a, const Hidden &b) {
      return a.flopsOfByte() > b.flopsOfByte();
    });
    return found;
  }

  /// Unless the axis deals another dimension of a value: then it is no feature
  /// that is hidden, but the model's width.
  void deal(const Hidden &hidden, ShardingPropagation &dealt) {
    DimAttr dim = dealtDim(layoutOf(hidden.dims->size));
    for (auto [value, index] : hidden.dims->places)
      if (sharesAxis(dim, dealt.dimsOf(value)))
        return;
    for (auto [value, index] : hidden.dims->places)
      dealt.deal(value, index, dim);
    remark::passed(
        func.getLoc(),
        remark::RemarkOpts::name("Features").category("sp-deal-tensors"))
        << remark::metric("size", hidden.dims->size)
        << " hidden features are dealt over " << mesh.getTensor()->getText()
        << ": ranks share "
        << remark::metric("flops", int64_t(hidden.dims->flops)) << " FLOPs and "
        << remark::metric("weights", hidden.weightBytes)
        << " bytes of weights, and send for "
        << remark::metric("bytes", hidden.sentBytes) << " bytes";
  }

  /// Says how a weight is dealt of which the tensor axis deals a dimension.
  void mark(BlockArgument argument, ShardingPropagation &dealt) {
    ArrayRef<DimAttr> dims = dealt.dimsOf(argument);
    bool isDealt = llvm::any_of(
        dims, [&](DimAttr dim) { return sharesAxis(tensorDim(), dim); });
    if (isDealt && !isSaid(argument))
      func.setArgAttr(argument.getArgNumber(), kSharding,
                      ShardingAttr::get(&getContext(), dims));
  }

  MeshOp mesh;
  func::FuncOp func;
};

} // namespace
