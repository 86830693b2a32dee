//===- Losses.cpp - What sharding does not make less ----------------------===//

#include "Losses.h"

#include "Localizer.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Flops.h"
#include "sp/IR/SourceLines.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/ParameterRoles.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Remarks.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#define DEBUG_TYPE "sp-localize"

using namespace mlir;
using namespace mlir::sp;

/// Of what attention sends or a rank computes: less is no loss.
static constexpr double kLeastShare = 0.01;

/// `axis "sp"`, `axes "dp", "sp"`.
static std::string listAxes(ArrayRef<AxisAttr> axes) {
  return (axes.size() == 1 ? "axis " : "axes ") +
         llvm::join(llvm::map_range(axes,
                                    [](AxisAttr axis) {
                                      return ("\"" + axis.getText() + "\"");
                                    }),
                    ", ");
}

/// What happens at a line to operations of a kind has one cause.
static std::string causeOf(Operation *op) {
  return describeSourceLine(op->getLoc()) + op->getName().getStringRef().str();
}

static SmallVector<AxisAttr> axesOf(DimAttr dim) {
  SmallVector<AxisAttr> axes;
  for (AtomAttr atom : dim.getAtoms())
    if (LayoutAttr layout = atom.getLayout())
      axes.push_back(layout.getAxis());
  return axes;
}

int64_t Losses::tripsOf(Block *block) const {
  int64_t product = 1;
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
    if (auto loop = loops.find(op); loop != loops.end())
      product *= loop->second;
  return product;
}

bool Losses::isOfTensorAxis(ArrayRef<AxisAttr> axes) {
  return llvm::all_of(axes, [&](AxisAttr axis) {
    return mesh.getTensor() && axis.getName() == mesh.getTensor()->getName();
  });
}

double Losses::leastBytes() const {
  return std::max(double(kSmallBytes), kLeastShare * attentionBytes);
}

void Losses::gather(Operation *user, ArrayRef<DimAttr> dims, unsigned index,
                    int64_t bytes, Block *block, bool isWanted) {
  SmallVector<AxisAttr> axes = axesOf(dims[index]);
  gathers.push_back({user, index, listAxes(axes), bytes, tripsOf(block),
                     isWanted || isOfTensorAxis(axes) ||
                         chosen.contains(user) || isa<func::ReturnOp>(user) ||
                         isOfUpdate(user)});
}

void Losses::take(Operation *user, Value global, unsigned index, DimAttr dim,
                  int64_t bytes) {
  SmallVector<AxisAttr> axes = axesOf(dim);
  Operation *op = global ? originOf(global).getDefiningOp() : user;
  // Of products it counts what they compute.
  bool isMade = op && op->getNumOperands() > 0 && !isProduct(op);
  if (isMade && !isOfTensorAxis(axes))
    wholes.push_back({op, index, listAxes(axes), bytes});
}

void Losses::multiply(Operation *op, Operation *local,
                      const Assignment &assignment, Block *block) {
  int64_t trips = tripsOf(block);
  double own = flopsOf(local);
  flops += own * double(trips);
  llvm::StringMap<int64_t> shares;
  llvm::SmallDenseSet<Attribute> counted;
  for (auto *lists : {&assignment.operands, &assignment.results})
    for (ArrayRef<DimAttr> dims : *lists)
      for (DimAttr dim : dims)
        for (AtomAttr atom : dim.getAtoms())
          if (LayoutAttr layout = atom.getLayout();
              layout && counted.insert(layout.getAxis()).second)
            shares.try_emplace(layout.getAxis().getName(), 1).first->second *=
                layout.getRanks();
  int64_t alike = 1;
  SmallVector<AxisAttr> axes;
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    auto share = shares.find(axis.getName());
    int64_t ranks =
        axis.getSize() / (share == shares.end() ? 1 : share->second);
    if (ranks <= 1)
      continue;
    alike *= ranks;
    axes.push_back(mesh.parseAxis(axis.getName()));
  }
  if (alike > 1)
    products.push_back({op, listAxes(axes), alike, trips, own});
}

void Losses::attend(Operation *attention, Block *block) {
  int64_t trips = tripsOf(block);
  hasAttention = true;
  flops += flopsOf(attention) * double(trips) / double(mesh.getRanks());
  auto add = [&](auto op) {
    for (Value value : {Value(op.getKey()), Value(op.getValue())})
      attentionBytes += double(storageBytes(typeOf(value))) * double(trips);
  };
  int64_t batch = typeOf(attention->getOperand(0)).getDimSize(0);
  isBatchSmall |= batch < mesh.getAxisSize(mesh.getBatch());
  if (auto forward = dyn_cast<AttentionOp>(attention))
    add(forward);
  else
    add(cast<AttentionBackwardOp>(attention));
}

/// The loop that every rank runs whole and in which, or for which, something
/// happens; null where there is none.
static Operation *undealtLoopOf(Operation *op) {
  Operation *found = nullptr;
  for (; op; op = op->getParentOp())
    if (op->hasAttr(kNotDealt))
      found = op;
  return found;
}

void Losses::reportLoops(func::FuncOp func) {
  struct Sums {
    double bytes = 0, flops = 0;
  };
  llvm::MapVector<Operation *, Sums> loops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (undealtLoopOf(op) == op)
      loops.insert({op, {}});
  });
  llvm::erase_if(gathers, [&](const Gather &gather) {
    Operation *loop = undealtLoopOf(gather.user);
    if (loop)
      loops[loop].bytes += double(gather.bytes) * double(gather.trips);
    return loop;
  });
  llvm::erase_if(products, [&](const Product &product) {
    Operation *loop = undealtLoopOf(product.op);
    if (loop)
      loops[loop].flops += product.flops * double(product.trips);
    return loop;
  });
  for (auto [loop, sums] : loops) {
    remark::detail::InFlightRemark remark = remark::missed(
        loop->getLoc(),
        remark::RemarkOpts::name("NotDealt").category(DEBUG_TYPE));
    remark << "every rank runs all trips of a loop: "
           << cast<StringAttr>(loop->getAttr(kNotDealt)).getValue()
           << "; for them it sends "
           << remark::metric("bytes", int64_t(sums.bytes)) << " bytes";
    if (sums.flops > 0)
      remark << " and makes " << remark::metric("flops", int64_t(sums.flops))
             << " FLOPs of products";
  }
}

/// Of what a loop does: " in each of 4 trips".
static void addTrips(remark::detail::InFlightRemark &remark, int64_t trips) {
  if (trips > 1)
    remark << " in each of " << remark::metric("trips", trips) << " trips";
}

void Losses::reportGathers() {
  std::map<std::string, double> sums;
  for (const Gather &gather : gathers)
    if (!gather.isWanted)
      sums[causeOf(gather.user)] += double(gather.bytes) * double(gather.trips);
  for (const Gather &gather : gathers) {
    bool isLoss =
        !gather.isWanted && sums[causeOf(gather.user)] >= leastBytes();
    auto name = remark::RemarkOpts::name("Gathered").category(DEBUG_TYPE);
    Location loc = gather.user->getLoc();
    remark::detail::InFlightRemark remark =
        isLoss ? remark::missed(loc, name) : remark::analysis(loc, name);
    remark << gather.user->getName().getStringRef() << " needs dimension "
           << remark::metric("dimension", gather.index)
           << " whole: it is gathered over " << gather.axes << ", a rank sends "
           << remark::metric("bytes", gather.bytes) << " bytes";
    addTrips(remark, gather.trips);
  }
}

void Losses::reportWhole() {
  std::map<std::string, double> sums;
  // What is made of gathered values is whole for that, if these are not little
  // beside it.
  llvm::SmallDenseMap<Operation *, double> gathered;
  for (const Gather &gather : gathers)
    gathered[gather.user] += double(gather.bytes);
  llvm::erase_if(wholes, [&](const Whole &whole) {
    return gathered.lookup(whole.op) >= kLeastShare * double(whole.bytes) ||
           chosen.contains(whole.op) || isOfUpdate(whole.op);
  });
  for (const Whole &whole : wholes)
    sums[causeOf(whole.op)] += double(whole.bytes);
  for (const Whole &whole : wholes)
    if (sums[causeOf(whole.op)] >= leastBytes())
      remark::missed(whole.op->getLoc(),
                     remark::RemarkOpts::name("Whole").category(DEBUG_TYPE))
          << "every rank of " << whole.axes << " makes all of "
          << whole.op->getName().getStringRef() << ", "
          << remark::metric("size", whole.bytes)
          << " bytes, and keeps its part of dimension "
          << remark::metric("dimension", whole.index);
}

/// Ranks that could have rows of a product of their own: few where one side of
/// it has few, such as a token that is decoded.
static int64_t mostSharers(Operation *product) {
  int64_t elements = typeOf(product->getResult(0)).getNumElements();
  if (!isContraction(product) || elements == 0)
    return elements;
  ContractionDims dims = contractionDims(product);
  auto freeOf = [&](unsigned operand, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> contracting) {
    int64_t size = 1;
    for (auto [dim, own] :
         llvm::enumerate(typeOf(product->getOperand(operand)).getShape()))
      if (!llvm::is_contained(batch, dim) &&
          !llvm::is_contained(contracting, dim))
        size *= own;
    return size;
  };
  return elements / std::max(freeOf(0, dims.lhsBatch, dims.lhsContracting),
                             freeOf(1, dims.rhsBatch, dims.rhsContracting));
}

void Losses::reportProducts() {
  // Without attention nothing is shared; that is said once.
  if (!hasAttention)
    return;
  // Of ranks without a sequence Plan says so.
  if (isBatchSmall)
    llvm::erase_if(products, [&](const Product &product) {
      return product.axes == listAxes(*mesh.getBatch());
    });
  llvm::erase_if(products, [](const Product &product) {
    return mostSharers(product.op) < product.ranks;
  });
  std::map<std::string, double> byAxes, byLine;
  for (const Product &product : products) {
    double own = product.flops * double(product.trips);
    byAxes[product.axes] += own;
    byLine[product.axes + causeOf(product.op)] += own;
  }
  auto name = remark::RemarkOpts::name("Repeated").category(DEBUG_TYPE);
  for (const auto &[axes, sum] : byAxes) {
    if (sum < flops / 2)
      continue;
    const Product *most = nullptr;
    for (const Product &product : products)
      if (product.axes == axes && (!most || product.flops > most->flops))
        most = &product;
    remark::missed(most->op->getLoc(), name)
        << "all ranks of " << axes << " make the same products, "
        << remark::metric("flops", int64_t(sum)) << " FLOPs of a rank's "
        << remark::metric("allFlops", int64_t(flops))
        << " FLOPs, and among them this one";
  }
  for (const Product &product : products)
    if (byAxes[product.axes] < flops / 2 &&
        byLine[product.axes + causeOf(product.op)] >= kLeastShare * flops) {
      remark::detail::InFlightRemark remark =
          remark::missed(product.op->getLoc(), name);
      remark << "each of the " << remark::metric("ranks", product.ranks)
             << " ranks of " << product.axes << " makes the same product: "
             << remark::metric("flops", int64_t(product.flops)) << " FLOPs";
      addTrips(remark, product.trips);
    }
}

void Losses::report(func::FuncOp func) {
  reportLoops(func);
  reportGathers();
  reportWhole();
  reportProducts();
}

#undef DEBUG_TYPE
