//===- RankProgram.cpp - One rank's program on all ranks ------------------===//
#include "sp/Interpreter/RankProgram.h"
#include "MeshProgram.h"
#include "Ranks.h"
#include "Strided.h"
#include "sp/IR/Attributes.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Of what ranks hold alike, relative: they may add in another order.
static constexpr double kAgreement = 1e-9;

using sp::kSharding;

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> globalShape(sp::ShardingAttr sharding) {
  SmallVector<int64_t> shape;
  for (sp::DimAttr dim : sharding.getDims()) {
    shape.push_back(1);
    for (sp::AtomAttr atom : dim.getAtoms())
      shape.back() *= atom.getSize();
  }
  return shape;
}

static LogicalResult checkSharding(func::FuncOp function,
                                   sp::ShardingAttr sharding, Type local,
                                   const llvm::Twine &what) {
  auto type = dyn_cast<RankedTensorType>(local);
  if (!sharding || !type ||
      ArrayRef(sharding.getLocalShape()) != type.getShape())
    return function.emitOpError()
           << "cannot be evaluated: expected " << what << " of type " << local
           << " to say how it is dealt but got "
           << (sharding ? Attribute(sharding) : UnitAttr());
  return success();
}

bool interpreter::isRankProgram(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttrOfType<sp::ShardingAttr>(i, kSharding))
      return false;
  return function.getNumResults() > 0;
}

FailureOr<SmallVector<RankedTensorType>>
interpreter::globalArgumentTypes(func::FuncOp function) {
  SmallVector<RankedTensorType> types;
  for (auto [i, local] : llvm::enumerate(function.getArgumentTypes())) {
    auto sharding = function.getArgAttrOfType<sp::ShardingAttr>(i, kSharding);
    if (failed(checkSharding(function, sharding, local,
                             "argument " + llvm::Twine(i))))
      return failure();
    types.push_back(RankedTensorType::get(globalShape(sharding),
                                          getElementTypeOrSelf(local)));
  }
  return types;
}

/// The global index of each local one along a dimension; -1 in padding.
static FailureOr<SmallVector<int64_t>> indicesOf(Operation *op, sp::DimAttr dim,
                                                 int64_t rank) {
  SmallVector<int64_t> indices = {0};
  for (sp::AtomAttr atom : dim.getAtoms()) {
    SmallVector<int64_t> own;
    if (sp::LayoutAttr layout = atom.getLayout()) {
      FailureOr<Owners> owners = Owners::find(op, layout);
      if (failed(owners))
        return failure();
      own.assign(owners->rows().maxCount(), -1);
      for (int64_t row = 0; row < owners->countAt(rank); ++row)
        own[row] = owners->rows().toGlobal(owners->ownerAt(rank), row);
    } else {
      llvm::append_range(own, llvm::seq(atom.getSize()));
    }
    SmallVector<int64_t> finer;
    for (int64_t outer : indices)
      for (int64_t inner : own)
        finer.push_back(
            outer < 0 || inner < 0 ? -1 : outer * atom.getSize() + inner);
    indices = std::move(finer);
  }
  return indices;
}

/// The place in the global tensor of each local element; -1 in padding.
static FailureOr<std::vector<int64_t>>
placesOf(Operation *op, sp::ShardingAttr sharding, int64_t rank) {
  SmallVector<SmallVector<int64_t>> indices;
  for (sp::DimAttr dim : sharding.getDims()) {
    FailureOr<SmallVector<int64_t>> own = indicesOf(op, dim, rank);
    if (failed(own))
      return failure();
    indices.push_back(std::move(*own));
  }
  SmallVector<int64_t> strides = stridesOf(globalShape(sharding));
  std::vector<int64_t> places;
  forEachIndex(sharding.getLocalShape(), [&](ArrayRef<int64_t> index) {
    int64_t place = 0;
    for (auto [d, i] : llvm::enumerate(index)) {
      bool isPadding = place < 0 || indices[d][i] < 0;
      place = isPadding ? -1 : place + indices[d][i] * strides[d];
    }
    places.push_back(place);
  });
  return places;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static FailureOr<PerDevice> deal(func::FuncOp function,
                                 ArrayRef<Tensor> arguments, int64_t ranks) {
  PerDevice parts(ranks);
  for (auto [i, whole] : llvm::enumerate(arguments)) {
    auto sharding = function.getArgAttrOfType<sp::ShardingAttr>(i, kSharding);
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      if (sharding.isReplicated()) {
        parts[rank].push_back(whole.withType(type));
        continue;
      }
      FailureOr<std::vector<int64_t>> places =
          placesOf(function, sharding, rank);
      if (failed(places))
        return failure();
      Tensor part = unwritten(type);
      dispatch(part.getStorage(), [&, &whole = whole](auto tag) {
        using T = typename decltype(tag)::type;
        for (auto [own, place] :
             llvm::zip_equal(part.mutableElements<T>(), *places))
          if (place >= 0)
            own = whole.at<T>(place);
      });
      parts[rank].push_back(std::move(part));
    }
  }
  return parts;
}

template <typename T> static bool agree(T x, T y) {
  if (x == y || (x != x && y != y))
    return true;
  if constexpr (!std::is_integral_v<T>)
    return std::abs(x - y) <= kAgreement * std::max(std::abs(x), std::abs(y));
  return false;
}

static std::string numberText(const Tensor &tensor, int64_t at) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  dispatch(tensor.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value = tensor.at<T>(at);
    if constexpr (std::is_same_v<T, std::complex<double>>)
      stream << "(" << value.real() << ", " << value.imag() << ")";
    else if constexpr (std::is_same_v<T, double>)
      stream << value;
    else
      stream << int64_t(value);
  });
  return text;
}

/// A result from the parts that ranks hold of it.
static FailureOr<Tensor> assemble(func::FuncOp function, unsigned number,
                                  const PerDevice &parts) {
  Operation *terminator = function.getBody().front().getTerminator();
  auto sharding =
      function.getResultAttrOfType<sp::ShardingAttr>(number, kSharding);
  Tensor whole = unwritten(RankedTensorType::get(
      globalShape(sharding), parts.front()[number].getElementType()));
  std::vector<int64_t> holders(whole.size(), -1);
  for (int64_t rank = 0; rank < int64_t(parts.size()); ++rank) {
    const Tensor &part = parts[rank][number];
    FailureOr<std::vector<int64_t>> places = placesOf(function, sharding, rank);
    if (failed(places))
      return failure();
    int64_t wrong = -1;
    dispatch(part.getStorage(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      MutableArrayRef<T> elements = whole.mutableElements<T>();
      for (auto [i, place] : llvm::enumerate(*places)) {
        if (place < 0)
          continue;
        T value = part.at<T>(i);
        if (holders[place] < 0)
          elements[place] = value;
        else if (!agree(elements[place], value) && wrong < 0)
          wrong = int64_t(i);
        if (holders[place] < 0)
          holders[place] = rank;
      }
    });
    if (wrong >= 0)
      return terminator->emitOpError()
             << "expected ranks to agree in what several hold of result "
             << number << " but element " << (*places)[wrong] << " is "
             << numberText(part, wrong) << " on rank " << rank << " and "
             << numberText(whole, (*places)[wrong]) << " on rank "
             << holders[(*places)[wrong]];
  }
  return whole;
}

FailureOr<SmallVector<Tensor>>
interpreter::evaluateOnRanks(func::FuncOp function, ArrayRef<Tensor> arguments,
                             const EvaluationOptions &options) {
  FailureOr<SmallVector<RankedTensorType>> types =
      globalArgumentTypes(function);
  if (failed(types))
    return failure();
  sp::MeshOp mesh = sp::getMesh(function->getParentOfType<ModuleOp>());
  if (!mesh)
    return function.emitOpError() << "cannot be evaluated: expected a mesh";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError() << "expected one block but got "
                                  << function.getBody().getBlocks().size();
  if (options.errors)
    return function.emitOpError() << "has no errors: they are not known where "
                                     "ranks exchange values";
  if (types->size() != arguments.size())
    return function.emitOpError() << "expected " << types->size()
                                  << " arguments but got " << arguments.size();
  for (auto [i, type] : llvm::enumerate(*types))
    if (arguments[i].getType() != type)
      return function.emitOpError()
             << "expected argument " << i << " of type " << type << " but got "
             << arguments[i].getType();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(checkSharding(
            function,
            function.getResultAttrOfType<sp::ShardingAttr>(i, kSharding),
            function.getResultTypes()[i], "result " + llvm::Twine(i))))
      return failure();
  Block &block = function.getBody().front();
  FailureOr<PerDevice> parts = deal(function, arguments, mesh.getRanks());
  if (failed(parts))
    return failure();
  Evaluator evaluator(options);
  FailureOr<PerDevice> results =
      MeshProgram(evaluator).run(block, std::move(*parts));
  if (failed(results))
    return failure();
  SmallVector<Tensor> wholes;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FailureOr<Tensor> whole = assemble(function, i, *results);
    if (failed(whole))
      return failure();
    wholes.push_back(std::move(*whole));
  }
  return wholes;
}
