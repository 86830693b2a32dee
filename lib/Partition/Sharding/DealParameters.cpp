//===- DealParameters.cpp - ZeRO: layouts of parameters -------------------===//
//
// A training step is given what it gives back: parameters, which products read,
// and an optimizer's state, which only updates do. Whichever lies dealt says
// how its gradient is summed and where its update runs:
//
//   state dealt        gradients are summed where each rank has its part, the
//                      new parameter is gathered         (ZeRO 1 and 2)
//   parameters, too    gathered where a product reads them      (ZeRO 3)
//
// arXiv:1910.02054. A gradient never lies whole for longer than a bucket, so
// that stages 1 and 2 are one.
//
//===----------------------------------------------------------------------===//

#include "Sharding/NamedParts.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/ParameterRoles.h"
#include "sp/Partition/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALPARAMETERSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct DealParametersPass
    : mlir::sp::impl::DealParametersPassBase<DealParametersPass> {
  using DealParametersPassBase::DealParametersPassBase;

  void runOnOperation() override {
    if (zero == 0)
      return;
    MeshOp mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (!mesh || failed(func) || failed(findAxes(mesh, *func)))
      return signalPassFailure();
    SmallVector<TrainedArgument> roles = findTrained(*func);
    if (roles.empty()) {
      bool hasCaches = llvm::any_of(func->getArguments(), [&](auto argument) {
        return func->getArgAttr(argument.getArgNumber(), kCache);
      });
      programError(*func)
          << "expected a training step, whose parameters and state are "
             "donated, for --zero but no argument of floating point"
          << (hasCaches ? ", beside caches," : "")
          << " is donated for a result of its type, without which it is not "
             "fed back; donate what the step returns in the same type "
             "(train_step does), or leave the option out";
      return signalPassFailure();
    }
    if (axes.empty())
      return;
    Dealt bytes;
    for (const TrainedArgument &role : roles) {
      unsigned number = role.argument.getArgNumber();
      auto own = func->getArgAttrOfType<ShardingAttr>(number, kSharding);
      // The user's own stays, but what a tensor axis deals is dealt further.
      if ((own && !isOfTensors(own, mesh)) ||
          func->getArgAttr(number, "sdy.sharding"))
        continue;
      if (!own)
        own =
            ShardingAttr::getReplicated(&getContext(), shapeOf(role.argument));
      bool isState = !role.uses.isWeight;
      std::optional<ShardingAttr> sharding =
          dealt(mesh, role.argument, own, usesOf(role, roles));
      if (!isState && zero != 3 && sharding) {
        bytes.byThree += bytesOf(role.argument);
        sharding.reset();
      }
      bytes.of[isState][sharding.has_value()] += bytesOf(role.argument);
      // What is not said is dealt as its update would have it.
      func->setArgAttr(number, kSharding, sharding.value_or(own));
    }
    if (bytes.of[0][1] + bytes.of[1][1] > 0)
      say(*func, bytes);
    else
      sayNothing(bytes);
  }

private:
  /// Bytes of arguments that have no layout of the user's.
  struct Dealt {
    int64_t of[2][2] = {}; ///< of parameters and of state: whole, dealt
    int64_t byThree = 0;   ///< of whole parameters that --zero=3 would deal
  };

  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  static int64_t bytesOf(Value value) { return storageBytes(value.getType()); }

  /// Whether the tensor axis deals something, and no other does.
  static bool isOfTensors(ShardingAttr sharding, MeshOp mesh) {
    bool isDealt = false;
    for (DimAttr dim : sharding.getDims())
      for (AtomAttr atom : dim.getAtoms()) {
        LayoutAttr layout = atom.getLayout();
        if (layout && !isTensorAxis(layout.getAxis().getName(), mesh))
          return false;
        isDealt |= bool(layout);
      }
    return isDealt;
  }
  static bool isTensorAxis(StringRef axis, MeshOp mesh) {
    return mesh.getTensor() && mesh.getTensor()->getName() == axis;
  }

  /// ", such as "sp:(2)4"", of an axis of 8.
  static std::string exampleOfParts(MeshOp mesh) {
    for (MeshAxisAttr axis : mesh.getMesh().getAxes())
      for (int64_t outer = 2; outer < axis.getSize(); ++outer)
        if (axis.getSize() % outer == 0)
          return (", such as \"" + axis.getName() + ":(" + Twine(outer) + ")" +
                  Twine(axis.getSize() / outer) + "\"")
              .str();
    return "";
  }

  /// The axes that deal parameters, or parts of them, of several ranks each.
  LogicalResult findAxes(MeshOp mesh, func::FuncOp func) {
    SmallVector<StringRef> names;
    StringRef(zeroAxes).split(names, ',', -1, /*KeepEmpty=*/false);
    NamedParts parts(mesh);
    for (unsigned number = 0; number < func.getNumArguments(); ++number)
      parts.note(func.getArgAttrDict(number));
    for (StringRef name : names) {
      AxisAttr axis = mesh.parseAxis(name);
      if (!axis)
        return getOperation().emitError()
               << "expected --zero-axes to name axes of the mesh, "
               << mesh.getMesh().getText() << ", or parts of them"
               << exampleOfParts(mesh) << ", but got \"" << name << "\"";
      if (failed(parts.add(axis, [&] {
            return getOperation().emitError()
                   << "--zero-axes=" << zeroAxes << ": ";
          })))
        return failure();
      if (deals(axes, axis))
        return getOperation().emitError()
               << "expected --zero-axes to name each axis once but got \""
               << zeroAxes << "\"";
      axes.push_back(axis);
    }
    if (names.empty())
      for (MeshAxisAttr axis : mesh.getMesh().getAxes())
        if (!isTensorAxis(axis.getName(), mesh))
          axes.push_back(AxisAttr::get(&getContext(), axis.getName()));
    llvm::erase_if(axes,
                   [&](AxisAttr axis) { return mesh.getAxisSize(axis) == 1; });
    // Outermost first, as the ranks are counted.
    llvm::stable_sort(axes, [&](AxisAttr a, AxisAttr b) {
      return mesh.findFactor(a)->stride > mesh.findFactor(b)->stride;
    });
    return success();
  }

  static bool deals(ArrayRef<AxisAttr> axes, AxisAttr axis) {
    return llvm::any_of(axes,
                        [&](AxisAttr other) { return other.overlaps(axis); });
  }

  /// How an argument is read, or the parameters that its update makes.
  static ArgumentUses usesOf(const TrainedArgument &role,
                             ArrayRef<TrainedArgument> roles) {
    ArgumentUses uses = role.uses;
    for (const TrainedArgument &other : roles)
      if (role.uses.results.contains(other.result)) {
        uses.cut.insert_range(other.uses.cut);
        uses.sliced.insert_range(other.uses.sliced);
      }
    return uses;
  }

  /// Along the first dimension that all axes divide, or else the longest, and
  /// by the axes that do not divide this one along others, but for dimensions
  /// that are taken in parts, if there are any others. What is dealt already
  /// stays.
  std::optional<ShardingAttr> dealt(MeshOp mesh, BlockArgument argument,
                                    ShardingAttr own,
                                    const ArgumentUses &uses) {
    if (bytesOf(argument) < kSmallBytes)
      return std::nullopt;
    ArrayRef<int64_t> shape = shapeOf(argument);
    SmallVector<unsigned> order, sliced;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (!uses.cut.contains(dim) && !isDealt(own.getDims()[dim]))
        (uses.sliced.contains(dim) ? sliced : order).push_back(dim);
    if (order.empty())
      order = sliced;
    int64_t ranks = 1;
    for (AxisAttr axis : axes)
      ranks *= mesh.getAxisSize(axis);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      bool isEven = shape[a] % ranks == 0, isOther = shape[b] % ranks == 0;
      return isEven != isOther ? isEven : !isEven && shape[a] > shape[b];
    });
    SmallVector<DimAttr> dims = llvm::to_vector(own.getDims());
    SmallVector<AxisAttr> left = axes;
    llvm::erase_if(left, [&](AxisAttr axis) { return deals(own, axis); });
    size_t most = left.size();
    for (unsigned dim : order)
      dims[dim] = deal(mesh, dims[dim], shape[dim], left);
    if (left.size() == most)
      return std::nullopt;
    return ShardingAttr::get(&getContext(), dims);
  }

  static bool deals(ShardingAttr sharding, AxisAttr axis) {
    return llvm::any_of(sharding.getDims(), [&](DimAttr dim) {
      return llvm::any_of(dim.getAtoms(), [&](AtomAttr atom) {
        return atom.getLayout() && atom.getLayout().getAxis().overlaps(axis);
      });
    });
  }

  /// Deals a dimension by the last of the axes, and by those before it that
  /// divide it, and takes these away; one that is shorter stays whole.
  DimAttr deal(MeshOp mesh, DimAttr whole, int64_t size,
               SmallVector<AxisAttr> &left) {
    if (left.empty() || size < mesh.getAxisSize(left.back()))
      return whole;
    SmallVector<AxisAttr> taken;
    AxisAttr last = left.pop_back_val();
    int64_t rest = size;
    llvm::erase_if(left, [&](AxisAttr axis) {
      int64_t ranks = mesh.getAxisSize(axis);
      if (rest % ranks != 0 || rest / ranks < mesh.getAxisSize(last))
        return false;
      taken.push_back(axis);
      rest /= ranks;
      return true;
    });
    taken.push_back(last);
    return dimOver(mesh, taken, size);
  }

  std::string axisNames() const {
    std::string names;
    llvm::raw_string_ostream stream(names);
    llvm::interleaveComma(axes, stream,
                          [&](AxisAttr axis) { stream << axis.getText(); });
    return names;
  }

  void say(func::FuncOp func, const Dealt &bytes) {
    remark::passed(func.getLoc(), remark::RemarkOpts::name("Zero").category(
                                      "sp-deal-parameters"))
        << "deals over " << remark::metric("axes", axisNames()) << ": "
        << remark::metric("parameters", bytes.of[0][1])
        << " bytes of parameters, while "
        << remark::metric("wholeParameters", bytes.of[0][0])
        << " bytes stay whole, and " << remark::metric("state", bytes.of[1][1])
        << " bytes of state, while "
        << remark::metric("wholeState", bytes.of[1][0]) << " bytes do";
  }

  /// An option that does nothing.
  void sayNothing(const Dealt &bytes) {
    auto remark = remark::missed(getOperation().getLoc(),
                                 remark::RemarkOpts::name("NothingDealt")
                                     .category("sp-deal-parameters"));
    remark << "--zero=" << remark::metric("zero", int64_t(zero))
           << " deals nothing over " << remark::metric("axes", axisNames())
           << ": ";
    if (bytes.of[0][0] + bytes.of[1][0] == 0) {
      remark << "all that is trained has a layout of its own; leave one out";
      return;
    }
    remark << remark::metric("wholeParameters", bytes.of[0][0])
           << " bytes of parameters and "
           << remark::metric("wholeState", bytes.of[1][0])
           << " bytes of state stay whole; ";
    if (bytes.byThree > 0)
      remark << "--zero=3 deals " << remark::metric("byThree", bytes.byThree)
             << " bytes of the parameters";
    else
      remark << "each is smaller than " << remark::metric("small", kSmallBytes)
             << " bytes, or has no dimension that the ranks can share: leave "
                "the option out";
  }

  SmallVector<AxisAttr> axes;
};

} // namespace
