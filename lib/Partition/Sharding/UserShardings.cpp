//===- UserShardings.cpp - Shardings that the user wrote ------------------===//

#include "Sharding/Seeds.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

std::string Seeds::listAxes() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(
      mesh.getMesh().getAxes(), stream,
      [&](MeshAxisAttr axis) { stream << '"' << axis.getName() << '"'; });
  return text;
}

SmallVector<AxisAttr> Seeds::axesOf(DimAttr dim) {
  SmallVector<AxisAttr> axes;
  for (AtomAttr atom : dim.getAtoms()) {
    if (!atom.getLayout())
      continue;
    AxisAttr axis = atom.getLayout().getAxis();
    if (AxisAttr joined =
            axes.empty() ? AxisAttr() : mesh.joinFactors(axes.back(), axis)) {
      axes.pop_back();
      axis = joined;
    }
    axes.push_back(axis);
  }
  return axes;
}

FailureOr<DimAttr>
Seeds::dimOver(ArrayRef<AxisAttr> axes, int64_t size, DimAttr known,
               function_ref<InFlightDiagnostic()> emitError) {
  if (axes == ArrayRef(axesOf(known)))
    return known;
  if (axes.size() == 1 && size > 0)
    return dealtDim(layoutFor(axes[0], size));
  if (DimAttr dim = sp::dimOver(mesh, axes, size))
    return dim;
  InFlightDiagnostic error = emitError();
  error << "expected axes of which all but the last divide a dimension of size "
        << size << " but got "
        << AxisListAttr::get(func.getContext(), axes).getText();
  SmallVector<AxisAttr> order(axes);
  auto isBefore = [](AxisAttr a, AxisAttr b) {
    return a.getText() < b.getText();
  };
  llvm::sort(order, isBefore);
  do
    if (sp::dimOver(mesh, order, size))
      return error << "; "
                   << llvm::join(llvm::map_range(order,
                                                 [](AxisAttr axis) {
                                                   return axis.getText();
                                                 }),
                                 "*")
                   << " would";
  while (std::next_permutation(order.begin(), order.end(), isBefore));
  return error << ", and no order of them does; name one of them";
}

FailureOr<SmallVector<AxisAttr>>
Seeds::parseAxes(StringRef text, StringRef dimension,
                 SmallVectorImpl<AxisAttr> &others) {
  SmallVector<AxisAttr> axes;
  SmallVector<StringRef> names;
  if (dimension != "_")
    dimension.split(names, '*');
  for (StringRef name : names) {
    AxisAttr axis = mesh.parseAxis(name);
    if (!axis)
      return programError(func)
             << "expected --shard to name axes of the mesh, " << listAxes()
             << ", or parts of them, but got \"" << name << "\" in \"" << text
             << "\"";
    if (llvm::any_of(others,
                     [&](AxisAttr other) { return other.overlaps(axis); }))
      return programError(func) << "expected --shard to name axis \"" << name
                                << "\" once but got \"" << text << "\"";
    if (failed(parts.add(axis, [&] {
          return programError(func) << "--shard=" << text << ": ";
        })))
      return failure();
    others.push_back(axis);
    if (mesh.getAxisSize(axis) > 1)
      axes.push_back(axis);
  }
  return axes;
}

FailureOr<SmallVector<DimAttr>> Seeds::parseShard(StringRef text,
                                                  ShardingPropagation &derived,
                                                  BlockArgument &argument) {
  StringRef name, axes;
  std::tie(name, axes) = text.split('=');
  unsigned number = 0;
  bool known = name.consume_front("arg") && !name.getAsInteger(10, number) &&
               number < func.getNumArguments();
  if (!known)
    return programError(func)
           << "expected --shard to name one of the " << func.getNumArguments()
           << " arguments, such as arg0=_,sp,_, but got \"" << text << "\"";
  argument = func.getArgument(number);
  if (!sharded.insert(number).second)
    return programError(func) << "expected one --shard of arg" << number
                              << " but got another, \"" << text << "\"";
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<StringRef> parts;
  if (!axes.empty())
    axes.split(parts, ',');
  if (static_cast<int64_t>(parts.size()) != type.getRank())
    return programError(func)
           << "expected --shard to say an axis or _ for each of the "
           << type.getRank() << " dimensions of arg" << number << " but got \""
           << axes << "\"";
  SmallVector<DimAttr> dims;
  SmallVector<AxisAttr> named;
  for (auto [index, part] : llvm::enumerate(parts)) {
    FailureOr<SmallVector<AxisAttr>> own = parseAxes(text, part, named);
    if (failed(own))
      return failure();
    DimAttr derivedDim = derived.dimsOf(argument)[index];
    FailureOr<DimAttr> dim = wholeDim(derivedDim);
    if (!own->empty())
      dim =
          dimOver(*own, type.getDimSize(index), derivedDim, [&, index = index] {
            return programError(func)
                   << "--shard=" << text << ", dimension " << index << ": ";
          });
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
  }
  return dims;
}

LogicalResult Seeds::checkSharding(BlockArgument argument,
                                   ShardingAttr sharding) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto fail = [&]() {
    return emitError(argument.getLoc())
           << "argument " << argument.getArgNumber() << ": 'sp.sharding' ";
  };
  if (static_cast<int64_t>(sharding.getDims().size()) != type.getRank())
    return fail() << "expected " << type.getRank() << " dimensions but got "
                  << sharding.getDims().size();
  for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
    int64_t size = wholeDim(dim).getAtoms()[0].getSize();
    if (size != type.getDimSize(index))
      return fail() << "expected dimension " << index << " to have size "
                    << type.getDimSize(index) << " but got " << size;
    if (sharesAxis(dim, sharding.getDims().take_front(index)))
      return fail() << "expected every axis to deal one dimension but got "
                    << sharding;
    for (AtomAttr atom : dim.getAtoms()) {
      LayoutAttr layout = atom.getLayout();
      if (!layout)
        continue;
      if (!mesh.findFactor(layout.getAxis()))
        return fail() << "expected axes of the mesh, " << listAxes()
                      << ", or parts of them, but got \""
                      << layout.getAxis().getText() << "\"";
      if (layout.getRanks() != mesh.getAxisSize(layout.getAxis()) ||
          layout.getLength() != atom.getSize())
        return fail() << "expected a layout of " << atom.getSize()
                      << " positions on the "
                      << mesh.getAxisSize(layout.getAxis())
                      << " ranks of axis \"" << layout.getAxis().getText()
                      << "\" but got " << layout;
    }
  }
  return success();
}

FailureOr<DimAttr>
Seeds::fromShardy(sdy::DimensionShardingAttr sharding, sdy::MeshAttr own,
                  int64_t size, DimAttr known,
                  function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<AxisAttr> axes;
  for (sdy::AxisRefAttr axis : sharding.getAxes()) {
    AxisAttr ours = AxisAttr::get(func.getContext(), axis.getName());
    int64_t ranks = mesh.getAxisSize(ours);
    if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo())
      ours = mesh.simplify(AxisAttr::get(func.getContext(), axis.getName(),
                                         part.getPreSize(), part.getSize()));
    if (ranks > 1 && !mesh.findFactor(ours))
      return emitError() << "expected a part of axis \"" << axis.getName()
                         << "\" of " << ranks << " ranks but got \""
                         << ours.getText() << "\"";
    bool isTrivial = mesh.hasAxis(axis.getName())
                         ? mesh.getAxisSize(ours) == 1
                         : own && own.hasAxis(axis.getName()) &&
                               own.getAxisSize(axis.getName()) == 1;
    if (isTrivial)
      continue;
    if (!mesh.hasAxis(axis.getName()))
      return emitError() << "expected axes of the mesh, " << listAxes()
                         << ", but got \"" << axis.getName()
                         << "\"; name it with --mesh, or export the model "
                            "without it";
    if (failed(parts.add(ours, emitError)))
      return failure();
    axes.push_back(ours);
  }
  if (axes.empty())
    return sharding.getIsClosed() ? wholeDim(known) : known;
  return dimOver(axes, size, known, emitError);
}

FailureOr<SmallVector<DimAttr>>
Seeds::fromShardy(sdy::TensorShardingAttr sharding, RankedTensorType type,
                  ArrayRef<DimAttr> known,
                  function_ref<InFlightDiagnostic()> emitError) {
  if (sharding.getRank() != type.getRank())
    return emitError() << "expected " << type.getRank()
                       << " dimensions but got " << sharding;
  SmallVector<DimAttr> dims;
  for (auto [index, entry] : llvm::enumerate(sharding.getDimShardings())) {
    FailureOr<DimAttr> dim =
        fromShardy(entry, sharding.getMesh(func), type.getDimSize(index),
                   known[index], emitError);
    if (failed(dim))
      return failure();
    if (sharesAxis(*dim, dims))
      return emitError() << "expected every axis to shard one dimension but "
                            "got "
                         << sharding;
    dims.push_back(*dim);
  }
  return dims;
}

LogicalResult Seeds::pinArguments(ArrayRef<std::string> shard,
                                  ShardingPropagation &derived,
                                  ShardingPropagation &propagation) {
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto own = func.getArgAttrOfType<ShardingAttr>(number, kSharding);
    auto shardy =
        func.getArgAttrOfType<sdy::TensorShardingAttr>(number, "sdy.sharding");
    if (own) {
      if (failed(checkSharding(argument, own)))
        return failure();
      parts.note(func.getArgAttrDict(number));
      propagation.pin(argument, own.getDims());
      continue;
    }
    if (!shardy)
      continue;
    FailureOr<SmallVector<DimAttr>> dims =
        fromShardy(shardy, cast<RankedTensorType>(argument.getType()),
                   derived.dimsOf(argument), [&] {
                     return emitError(argument.getLoc())
                            << "argument " << number << ": 'sdy.sharding' ";
                   });
    if (failed(dims))
      return failure();
    propagation.pin(argument, *dims);
  }
  for (const std::string &text : shard) {
    BlockArgument argument;
    FailureOr<SmallVector<DimAttr>> dims = parseShard(text, derived, argument);
    if (failed(dims))
      return failure();
    propagation.pin(argument, *dims);
  }
  return success();
}

LogicalResult Seeds::seedWishes(ShardingPropagation &propagation) {
  auto seed = [&](Value value, sdy::TensorShardingAttr sharding,
                  function_ref<InFlightDiagnostic()> emitError) {
    SmallVector<DimAttr> known(propagation.dimsOf(value));
    FailureOr<SmallVector<DimAttr>> dims = fromShardy(
        sharding, cast<RankedTensorType>(value.getType()), known, emitError);
    if (failed(dims))
      return failure();
    for (auto [index, dim] : llvm::enumerate(*dims))
      propagation.deal(value, index, dim);
    return success();
  };
  WalkResult walked = func.walk([&](Operation *op) -> WalkResult {
    auto sharding = op->getAttrOfType<sdy::TensorShardingAttr>("sharding");
    if (!sharding || !isShardingAnnotation(op))
      return WalkResult::advance();
    return seed(op->getResult(0), sharding,
                [&] { return op->emitOpError("sharding: "); });
  });
  if (walked.wasInterrupted())
    return failure();
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto sharding = func.getResultAttrOfType<sdy::TensorShardingAttr>(
        index, "sdy.sharding");
    unsigned number = index;
    if (sharding && failed(seed(value, sharding, [&] {
          return func.emitError() << "result " << number << ": 'sdy.sharding' ";
        })))
      return failure();
  }
  return success();
}
