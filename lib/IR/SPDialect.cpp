//===- SPDialect.cpp - The sp dialect, its attributes and types -----------===//

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::algebra::Layout;

#include "sp/IR/SPDialect.cpp.inc"
#include "sp/IR/SPEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Custom directives of attributes
//===----------------------------------------------------------------------===//

static void printBound(AsmPrinter &printer, int64_t bound) {
  if (bound == INT64_MIN) {
    printer << "-inf";
    return;
  }
  if (bound == INT64_MAX) {
    printer << "inf";
    return;
  }
  printer << bound;
}

static ParseResult parseBound(AsmParser &parser, int64_t &bound) {
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    bound = INT64_MAX;
    return success();
  }
  // The lexer reads "-inf" as a minus and a keyword.
  if (succeeded(parser.parseOptionalMinus())) {
    if (succeeded(parser.parseOptionalKeyword("inf"))) {
      bound = INT64_MIN;
      return success();
    }
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(bound))
      return failure();
    if (bound < 0)
      return parser.emitError(loc) << "expected one minus before a bound";
    bound = -bound;
    return success();
  }
  return parser.parseInteger(bound);
}

static void printUniform(AsmPrinter &printer, bool uniform) {
  if (uniform)
    printer << ", uniform";
}

static ParseResult parseUniform(AsmParser &parser, bool &uniform) {
  uniform = false;
  if (failed(parser.parseOptionalComma()))
    return success();
  uniform = true;
  return parser.parseKeyword("uniform");
}

static void printAxisText(AsmPrinter &printer, StringRef name, int64_t above,
                          int64_t size) {
  printer << '"' << name;
  if (size != 0)
    printer << ":(" << above << ')' << size;
  printer << '"';
}

static ParseResult parseAxisText(AsmParser &parser, std::string &name,
                                 int64_t &above, int64_t &size) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&text))
    return failure();
  AxisAttr axis = AxisAttr::fromText(parser.getContext(), text);
  if (!axis)
    return parser.emitError(loc)
           << "expected an axis, such as \"sp\", or a factor of one, such as "
              "\"sp:(2)4\", but got \""
           << text << '"';
  name = axis.getName().str();
  above = axis.getAbove();
  size = axis.getSize();
  return success();
}

#define GET_ATTRDEF_CLASSES
#include "sp/IR/SPAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "sp/IR/SPTypes.cpp.inc"

void SpDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sp/IR/SPAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "sp/IR/SPTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "sp/IR/SPOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::string MeshAttr::getText() const {
  std::string text;
  for (MeshAxisAttr axis : getAxes())
    text += (text.empty() ? "" : ",") + axis.getName().str() + "=" +
            std::to_string(axis.getSize());
  return text;
}

/// Nothing where a product of positive numbers leaves 64 bits.
static std::optional<int64_t> multiply(std::optional<int64_t> a, int64_t b) {
  int64_t product = 0;
  bool isLost = !a || llvm::MulOverflow(*a, b, product);
  return isLost ? std::nullopt : std::optional(product);
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<MeshAxisAttr> axes) {
  llvm::StringSet<> names;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() < 1)
      return emitError() << "expected mesh axis \"" << axis.getName()
                         << "\" to have a positive size but got "
                         << axis.getSize();
    if (!names.insert(axis.getName()).second)
      return emitError() << "expected distinct mesh axes but got \""
                         << axis.getName() << "\" twice";
  }
  std::optional<int64_t> ranks = 1;
  for (MeshAxisAttr axis : axes)
    ranks = multiply(ranks, axis.getSize());
  if (ranks && *ranks <= Layout::maxRanks)
    return success();
  InFlightDiagnostic diagnostic = emitError()
                                  << "expected a mesh of at most "
                                  << Layout::maxRanks << " ranks but got ";
  llvm::interleave(
      axes, [&](MeshAxisAttr axis) { diagnostic << axis.getSize(); },
      [&] { diagnostic << " x "; });
  return diagnostic;
}

std::string AxisAttr::getText() const {
  std::string text = getName().str();
  if (!isWhole())
    text += ":(" + std::to_string(getAbove()) + ")" + std::to_string(getSize());
  return text;
}

/// Of what getText gives; null of any other text.
AxisAttr AxisAttr::fromText(MLIRContext *context, StringRef text) {
  auto [name, factor] = text.split(":(");
  int64_t above = 1, size = 0;
  if (name.size() != text.size() &&
      (factor.consumeInteger(10, above) || !factor.consume_front(")") ||
       factor.getAsInteger(10, size) || above <= 0 || size <= 0))
    return AxisAttr();
  return get(context, name, above, size);
}

AxisAttr AxisAttr::getFactor(AxisAttr axis, int64_t whole, int64_t above,
                             int64_t size) {
  if (size == whole)
    return axis;
  return get(axis.getContext(), axis.getName(), above, size);
}

bool AxisAttr::overlaps(AxisAttr other) const {
  // Parts of 6 ranks, r / 3 and r mod 2: neither is within what the other
  // counts as one, and a step along one may be one along both.
  auto isWithin = [](AxisAttr inner, AxisAttr outer) {
    return !outer.isWhole() &&
           inner.getAbove() % (outer.getAbove() * outer.getSize()) == 0;
  };
  return getName() == other.getName() && !isWithin(*this, other) &&
         !isWithin(other, *this);
}

bool AxisAttr::goesWith(AxisAttr other) const {
  if (getName() != other.getName() || isWhole() || other.isWhole())
    return true;
  int64_t ends[] = {getAbove(), getAbove() * getSize(), other.getAbove(),
                    other.getAbove() * other.getSize()};
  llvm::sort(ends);
  return std::adjacent_find(std::begin(ends), std::end(ends),
                            [](int64_t a, int64_t b) { return b % a != 0; }) ==
         std::end(ends);
}

std::string AxisListAttr::getText() const {
  auto quoted = [](AxisAttr axis) { return "\"" + axis.getText() + "\""; };
  return "[" + llvm::join(llvm::map_range(getAxes(), quoted), ", ") + "]";
}

static sprt::algebra::LayoutKind kindOf(LayoutKind kind) {
  using Kind = sprt::algebra::LayoutKind;
  static constexpr Kind kinds[] = {Kind::contiguous, Kind::zigzag,
                                   Kind::striped, Kind::batch};
  return kinds[static_cast<unsigned>(kind)];
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 LayoutKind kind, int64_t length, AxisAttr,
                                 int64_t ranks, int64_t split, int64_t within,
                                 int64_t blocks, int64_t turns, int64_t holds) {
  if (blocks > 1 && turns > 1)
    return emitError() << "expected blocks or turns but got both";
  if (split < 1 || ranks % split != 0)
    return emitError() << "expected a split that divides the " << ranks
                       << " ranks but got " << split;
  std::string problem =
      Layout::check(kindOf(kind), length, ranks / split, split, within,
                    {std::max(blocks, turns), turns > 1}, holds);
  if (!problem.empty())
    return emitError() << problem;
  if (within == length && within != 0)
    return emitError() << "expected a layout within more than its own "
                       << length << " positions";
  return success();
}

LogicalResult AtomAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t size, LayoutAttr layout) {
  if (size < 0)
    return emitError() << "expected a size that is not negative but got "
                       << size;
  if (layout && layout.getLength() != size)
    return emitError() << "expected a layout of " << size
                       << " positions but got " << layout;
  return success();
}

LayoutAttr LayoutAttr::getDense(MLIRContext *context, int64_t length) {
  return get(context, LayoutKind::Contiguous, length,
             AxisAttr::get(context, ""), 1);
}

int64_t LayoutAttr::getMaxCount() const { return toAlgebra(*this).maxCount(); }

LayoutAttr LayoutAttr::getByTurn() const {
  return get(getContext(), getKind(), getLength(), getAxis(), getRanks(),
             getSplit(), getWithin(), 1, getBlocks(), getHolds());
}

LayoutAttr LayoutAttr::getOfAllTurns() const {
  if (getTurns() == 1)
    return *this;
  return get(getContext(), getKind(), getLength(), getAxis(), getRanks(),
             getSplit(), getWithin(), getTurns(), 1, getHolds());
}

LayoutAttr LayoutAttr::getBlock() const {
  return get(getContext(), getKind(),
             getWhole().getLength() / std::max(getBlocks(), getTurns()),
             getAxis(), getRanks(), getSplit(), getHolds());
}

LayoutAttr LayoutAttr::getWhole() const {
  return getFirst(getWithin() ? getWithin() : getLength());
}

LayoutAttr LayoutAttr::getFirst(int64_t length) const {
  int64_t whole = getWithin() ? getWithin() : getLength();
  if (length > whole)
    return LayoutAttr();
  return get(getContext(), getKind(), length, getAxis(), getRanks(), getSplit(),
             length == whole ? 0 : whole, getBlocks(), getTurns(), getHolds());
}

SmallVector<int64_t> ShardingAttr::getLocalShape() const {
  SmallVector<int64_t> shape;
  for (DimAttr dim : getDims()) {
    int64_t size = 1;
    for (AtomAttr atom : dim.getAtoms())
      size *=
          atom.getLayout() ? atom.getLayout().getMaxCount() : atom.getSize();
    shape.push_back(size);
  }
  return shape;
}

bool ShardingAttr::isReplicated() const {
  return llvm::all_of(getDims(), [](DimAttr dim) {
    return llvm::all_of(dim.getAtoms(),
                        [](AtomAttr atom) { return !atom.getLayout(); });
  });
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context,
                                         ArrayRef<int64_t> shape) {
  SmallVector<DimAttr> dims;
  for (int64_t size : shape)
    dims.push_back(
        DimAttr::get(context, AtomAttr::get(context, size, LayoutAttr())));
  return ShardingAttr::get(context, dims);
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

Layout mlir::sp::toAlgebra(LayoutAttr layout) {
  return Layout(
      kindOf(layout.getKind()), layout.getLength(),
      layout.getRanks() / layout.getSplit(), layout.getSplit(),
      layout.getWithin(),
      {std::max(layout.getBlocks(), layout.getTurns()), layout.getTurns() > 1},
      layout.getHolds());
}

sprt::algebra::Bands mlir::sp::toAlgebra(ArrayAttr bands) {
  std::vector<sprt::algebra::Band> list;
  for (BandAttr band : bands.getAsRange<BandAttr>())
    list.push_back({band.getQ0(), band.getQ1(), band.getK0(), band.getK1(),
                    band.getLo(), band.getHi(), band.getUniform()});
  return sprt::algebra::Bands(std::move(list));
}

ArrayAttr mlir::sp::transposed(ArrayAttr bands) {
  return toAttr(bands.getContext(), toAlgebra(bands).transposed());
}

ArrayAttr mlir::sp::toAttr(MLIRContext *context,
                           const sprt::algebra::Bands &bands) {
  SmallVector<Attribute> list;
  for (const sprt::algebra::Band &band : bands.bands())
    list.push_back(BandAttr::get(context, band.q0, band.q1, band.k0, band.k1,
                                 band.lo, band.hi, band.uniform));
  return ArrayAttr::get(context, list);
}

int64_t mlir::sp::getMaxHeads(LayoutAttr heads, int64_t headCount) {
  Layout layout = toAlgebra(heads);
  int64_t most = 0;
  for (int64_t owner = 0; owner < heads.getRanks(); ++owner)
    most = std::max(most,
                    sprt::algebra::heldHeads(layout, owner, headCount).size());
  return most;
}

MeshOp mlir::sp::getMesh(Operation *moduleOp) {
  auto meshes = cast<ModuleOp>(moduleOp).getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}
