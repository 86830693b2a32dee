//===- JoinCotangents.cpp - Gradients of weights of a sum -----------------===//
//
//   -%lambda * dot(%do, %v)              // meets softmax(%s1)
//
// becomes dot(-%lambda * %do, %v): the cotangent of one attention and its
// values. Those of parts of a softmax, padded and added, become parts of one.
//
//===----------------------------------------------------------------------===//

#include "Normalize/SplitSums.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

void Cotangent::settle(ImplicitLocOpBuilder &b) {
  if (isNegative)
    left.value = stablehlo::NegOp::create(b, left.value);
  isNegative = false;
}

static void setDims(PairProduct &product, ArrayRef<int64_t> sources) {
  for (ProductSide *factor : {&product.left, &product.right})
    factor->dims = llvm::map_to_vector(sources, [&](int64_t source) {
      return source < 0 ? -1 : factor->dims[source];
    });
}

std::optional<Cotangent> CotangentReader::readDot(stablehlo::DotGeneralOp dot,
                                                  int64_t keys) {
  std::optional<PairProduct> read = readProduct(dot);
  if (!read || read->left.has(keys) == read->right.has(keys))
    return std::nullopt;
  if (read->left.has(keys))
    std::swap(read->left, read->right);
  return Cotangent{*read};
}

/// Multiplies the factor of queries, if what it is multiplied by is known
/// there.
bool CotangentReader::scaleRows(Cotangent &product, Value number,
                                bool divides) {
  SmallVector<int64_t> dims, places;
  llvm::SmallBitVector varying = varyingDims(number);
  for (int64_t dim : varying.set_bits()) {
    dims.push_back(dim);
    places.push_back(product.left.dims[dim]);
  }
  if (llvm::is_contained(places, -1))
    return false;
  product.left.value =
      scale(b, product.left.value, narrowTo(b, number, dims), places, divides);
  return true;
}

std::optional<Cotangent> CotangentReader::readScaled(Operation *op,
                                                     int64_t keys) {
  bool divides = isa<stablehlo::DivOp>(op);
  for (unsigned pairs : {0U, 1U}) {
    if (varyingDims(op->getOperand(1 - pairs))[keys] || (divides && pairs == 1))
      continue;
    std::optional<Cotangent> product = read(op->getOperand(pairs), keys);
    if (product && scaleRows(*product, op->getOperand(1 - pairs), divides))
      return product;
  }
  return std::nullopt;
}

std::optional<Cotangent>
CotangentReader::readBroadcast(stablehlo::BroadcastInDimOp op, int64_t keys) {
  ArrayRef<int64_t> map = op.getBroadcastDimensions();
  SmallVector<int64_t> sources(op.getType().getRank(), -1);
  for (auto [from, to] : llvm::enumerate(map))
    sources[to] = int64_t(from);
  if (sources[keys] < 0 ||
      op.getType().getNumElements() != typeOf(op.getOperand()).getNumElements())
    return std::nullopt;
  std::optional<Cotangent> product = read(op.getOperand(), sources[keys]);
  if (product)
    setDims(*product, sources);
  return product;
}

/// Heads are reshaped, in front of queries and keys.
std::optional<Cotangent> CotangentReader::readReshape(stablehlo::ReshapeOp op,
                                                      int64_t keys) {
  RankedTensorType from = typeOf(op.getOperand()), to = op.getType();
  std::optional<int64_t> source = reshapedDim(to, from, keys);
  std::optional<Cotangent> product =
      source ? read(op.getOperand(), *source) : std::nullopt;
  int64_t last = from.getRank() - 1;
  if (!product || *source != last || keys != to.getRank() - 1 || last < 2 ||
      to.getRank() < 3 ||
      from.getDimSize(last - 1) != to.getDimSize(keys - 1) ||
      product->right.has(last - 1))
    return std::nullopt;
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, last)),
                       columns = rows;
  columns.back() = last;
  auto reshape = [&](ProductSide &factor, ArrayRef<int64_t> dims) {
    Value laid = layOut(b, factor, dims, from.getShape());
    SmallVector<int64_t> shape(to.getShape().drop_back(2));
    llvm::append_range(shape, typeOf(laid).getShape().take_back(2));
    factor.value =
        stablehlo::ReshapeOp::create(b, typeOf(laid).clone(shape), laid);
    factor.dims = llvm::to_vector(llvm::seq<int64_t>(0, to.getRank()));
    factor.contracted = to.getRank() - 1;
  };
  reshape(product->left, rows);
  product->left.dims[keys] = -1;
  reshape(product->right, columns);
  product->right.dims[keys - 1] = -1;
  product->right.dims[keys] = keys - 1;
  return product;
}

/// What is added or concatenated along one dimension.
bool CotangentReader::collect(Value value, SmallVectorImpl<Slot> &slots) {
  static constexpr size_t maxSlots = 256;
  if (slots.size() > maxSlots)
    return false;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<stablehlo::AddOp>(op))
    return collect(op->getOperand(0), slots) &&
           collect(op->getOperand(1), slots);
  if (auto concatenate = dyn_cast_or_null<stablehlo::ConcatenateOp>(op)) {
    int64_t start = 0, dim = int64_t(concatenate.getDimension());
    for (Value part : concatenate.getInputs()) {
      slots.push_back({part, dim, start, typeOf(part).getDimSize(dim)});
      start += slots.back().length;
    }
    return true;
  }
  auto pad = dyn_cast_or_null<stablehlo::PadOp>(op);
  auto isNone = [](int64_t padding) { return padding == 0; };
  auto fill = pad ? pad.getPaddingValue().getDefiningOp<stablehlo::ConstantOp>()
                  : stablehlo::ConstantOp();
  auto zero = fill ? dyn_cast<DenseFPElementsAttr>(fill.getValue())
                   : DenseFPElementsAttr();
  if (!zero || !zero.getSplatValue<APFloat>().isZero() ||
      !llvm::all_of(pad.getInteriorPadding(), isNone))
    return false;
  std::optional<int64_t> along;
  RankedTensorType part = typeOf(pad.getOperand());
  for (int64_t dim = 0; dim < part.getRank(); ++dim) {
    int64_t low = pad.getEdgePaddingLow()[dim],
            high = pad.getEdgePaddingHigh()[dim];
    if (low == 0 && high == 0)
      continue;
    if (along || low < 0 || high < 0)
      return false;
    along = dim;
  }
  if (along)
    slots.push_back({pad.getOperand(), *along, pad.getEdgePaddingLow()[*along],
                     part.getDimSize(*along)});
  return along.has_value();
}

std::optional<Cotangent> CotangentReader::readParts(Value value, int64_t keys) {
  SmallVector<Slot> slots;
  if (!collect(value, slots) || slots[0].dim == keys)
    return std::nullopt;
  llvm::sort(slots,
             [](const Slot &a, const Slot &b) { return a.start < b.start; });
  int64_t end = 0, dim = slots[0].dim;
  SmallVector<ProductSide> lefts, rights;
  SmallVector<int64_t> lengths;
  Cotangent joined;
  for (const Slot &slot : slots) {
    std::optional<Cotangent> part = slot.dim == dim && slot.start == end
                                        ? read(slot.value, keys)
                                        : std::nullopt;
    if (!part || (!lefts.empty() && part->dot->getResult(0).getType() !=
                                        joined.dot->getResult(0).getType()))
      return std::nullopt;
    part->settle(b);
    end += slot.length;
    joined.dot = part->dot;
    lefts.push_back(part->left);
    rights.push_back(part->right);
    lengths.push_back(slot.length);
  }
  ArrayRef<int64_t> sizes = typeOf(value).getShape();
  if (end != sizes[dim])
    return std::nullopt;
  joined.left = joinAlong(b, lefts, dim, sizes, lengths);
  joined.right = joinAlong(b, rights, dim, sizes, lengths);
  return joined;
}

/// Whether a conversion leaves a cotangent the precision of what it is made of.
static bool keepsCotangent(Operation *conversion, const Cotangent &product) {
  Type from = getElementTypeOrSelf(conversion->getOperand(0)),
       to = getElementTypeOrSelf(conversion->getResult(0));
  return isa<FloatType>(from) && isa<FloatType>(to) &&
         (widens(conversion) || to.isF32() ||
          to == product.left.type().getElementType() ||
          to == product.right.type().getElementType());
}

std::optional<Cotangent> CotangentReader::read(Value value, int64_t keys) {
  std::optional<Cotangent> product;
  if (!others.contains({value, keys}))
    product = readNew(value, keys);
  if (!product)
    others.insert({value, keys});
  return product;
}

std::optional<Cotangent> CotangentReader::readNew(Value value, int64_t keys) {
  Operation *op = value.getDefiningOp();
  if (!op || !softmaxes.of(value).empty())
    return std::nullopt;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return readDot(dot, keys);
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return readScaled(op, keys);
  if (isa<stablehlo::AddOp, stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return readParts(value, keys);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return readReshape(reshape, keys);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return readBroadcast(broadcast, keys);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    ArrayRef<int64_t> order = transpose.getPermutation();
    std::optional<Cotangent> product = read(op->getOperand(0), order[keys]);
    if (product)
      setDims(*product, order);
    return product;
  }
  bool isNegated = isa<stablehlo::NegOp>(op);
  if (!isNegated && !isa<stablehlo::ConvertOp>(op))
    return std::nullopt;
  std::optional<Cotangent> product = read(op->getOperand(0), keys);
  if (!product || (!isNegated && !keepsCotangent(op, *product)))
    return std::nullopt;
  product->isNegative ^= isNegated;
  return product;
}

/// The dimension of keys of what is made of a value of pairs.
static std::optional<int64_t> keysOfUsers(Value value, Softmaxes &softmaxes) {
  static constexpr size_t maxOperations = 32;
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size() && i < maxOperations; ++i) {
    if (std::optional<int64_t> keys = softmaxes.keys(open[i]))
      return keys;
    for (Operation *user : open[i].getUsers())
      if (isElementwise(user) &&
          typeOf(user->getResult(0)).getShape() == typeOf(value).getShape())
        open.insert(user->getResult(0));
  }
  return std::nullopt;
}

void mlir::sp::joinCotangents(func::FuncOp function, SplitProducts &split) {
  llvm::SetVector<Operation *> cotangents;
  auto isSplit = [&](Value value) {
    ArrayRef<Operation *> sources = split.softmaxes.of(value);
    return sources.size() == 1 && split.exponentials.contains(sources[0]);
  };
  function.walk([&](Operation *op) {
    if (!isElementwise(op) || !isSplit(op->getResult(0)))
      return;
    for (Value operand : op->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (made && !isContraction(made) && !isUniform(operand) &&
          isa<FloatType>(getElementTypeOrSelf(operand)) &&
          split.softmaxes.of(operand).empty())
        cotangents.insert(made);
    }
  });
  for (Operation *op : cotangents) {
    Value value = op->getResult(0);
    std::optional<int64_t> keys = keysOfUsers(value, split.softmaxes);
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    std::optional<Cotangent> product =
        keys ? CotangentReader(builder, split.softmaxes).read(value, *keys)
             : std::nullopt;
    if (!product)
      continue;
    product->settle(builder);
    RankedTensorType type = typeOf(value);
    Type element = product->dot.getType().getElementType();
    Value joined = createProduct(builder, *product, type.clone(element));
    if (element != type.getElementType())
      joined = stablehlo::ConvertOp::create(builder, type, joined);
    value.replaceAllUsesWith(joined);
  }
}
