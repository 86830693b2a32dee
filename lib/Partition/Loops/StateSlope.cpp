//===- StateSlope.cpp - How the next state depends on the one before ------===//

#include "Loops/StateSlope.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/SourceLines.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

StateSlope::StateSlope(ScanLoop &scan, unsigned number)
    : scan(scan), number(number) {
  for (auto [index, carried] : llvm::enumerate(scan.carried))
    if (carried.kind == ScanValue::Kind::State)
      (index == number ? own : others).insert(scan.body().getArgument(index));
  for (Operation &op : scan.body())
    for (DenseSet<Value> *dependent : {&own, &others}) {
      bool depends = false;
      forEachRead(&op,
                  [&](Value read) { depends |= dependent->contains(read); });
      if (depends)
        dependent->insert(op.result_begin(), op.result_end());
    }
}

Value StateSlope::valueOf(Slope slope, Type type, Batcher &batcher) {
  if (slope.kind == Slope::Kind::Other)
    return slope.value;
  auto whole = cast<RankedTensorType>(type);
  Value number =
      splat(*builder, scan.loop.getLoc(), whole.clone(ArrayRef<int64_t>()),
            builder->getFloatAttr(whole.getElementType(),
                                  slope.kind == Slope::Kind::One ? 1 : 0));
  return stablehlo::BroadcastInDimOp::create(*builder, scan.loop.getLoc(),
                                             batcher.typeOf(type), number,
                                             ArrayRef<int64_t>());
}

std::optional<StateSlope::Slope> StateSlope::find(Value value,
                                                  Batcher *batcher) {
  if (others.contains(value) || !isa<FloatType>(elementOf(value)))
    return std::nullopt;
  if (!own.contains(value))
    return Slope{Slope::Kind::Zero};
  if (value == scan.body().getArgument(number))
    return Slope{Slope::Kind::One};
  if (auto known = found.find(value); known != found.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  std::optional<Slope> slope;
  if (op && op->getBlock() == &scan.body())
    slope = findOf(op, batcher);
  found[value] = slope;
  return slope;
}

std::optional<StateSlope::Slope> StateSlope::findOf(Operation *op,
                                                    Batcher *batcher) {
  Location loc = op->getLoc();
  using Kind = Slope::Kind;
  auto of = [&](unsigned operand) {
    return find(op->getOperand(operand), batcher);
  };
  auto valueAt = [&](Slope slope, Value value) {
    return valueOf(slope, value.getType(), *batcher);
  };
  auto made = [&](auto emit) -> std::optional<Slope> {
    return Slope{Kind::Other, batcher ? Value(emit()) : Value()};
  };
  // A slope times what depends on no state, or over it.
  auto scaled = [&](unsigned which, auto emit) -> std::optional<Slope> {
    std::optional<Slope> slope = of(which), other = of(1 - which);
    if (!slope || !other || other->kind != Kind::Zero)
      return std::nullopt;
    if (slope->kind == Kind::Zero)
      return slope;
    return made([&] {
      Value scale = batcher->batched(op->getOperand(1 - which));
      return emit(*slope, scale);
    });
  };
  return llvm::TypeSwitch<Operation *, std::optional<Slope>>(op)
      .Case<stablehlo::AddOp, stablehlo::SubtractOp>(
          [&](auto sum) -> std::optional<Slope> {
            std::optional<Slope> lhs = of(0), rhs = of(1);
            if (!lhs || !rhs)
              return std::nullopt;
            if (rhs->kind == Kind::Zero)
              return lhs;
            if (lhs->kind == Kind::Zero && isa<stablehlo::AddOp>(op))
              return rhs;
            return made([&] {
              return decltype(sum)::create(*builder, loc, valueAt(*lhs, sum),
                                           valueAt(*rhs, sum));
            });
          })
      .Case([&](stablehlo::NegOp negated) -> std::optional<Slope> {
        std::optional<Slope> slope = of(0);
        if (!slope || slope->kind == Kind::Zero)
          return slope;
        return made([&] {
          return stablehlo::NegOp::create(*builder, loc,
                                          valueAt(*slope, negated));
        });
      })
      .Case([&](stablehlo::MulOp product) {
        return scaled(own.contains(product.getLhs()) ? 0 : 1,
                      [&](Slope slope, Value scale) -> Value {
                        if (slope.kind == Kind::One)
                          return scale;
                        return stablehlo::MulOp::create(*builder, loc,
                                                        slope.value, scale);
                      });
      })
      .Case([&](stablehlo::DivOp quotient) {
        return scaled(0, [&](Slope slope, Value scale) -> Value {
          return stablehlo::DivOp::create(*builder, loc,
                                          valueAt(slope, quotient), scale);
        });
      })
      .Case([&](stablehlo::SelectOp select) -> std::optional<Slope> {
        std::optional<Slope> on = of(1), off = of(2);
        Value pred = select.getPred();
        if (!on || !off || own.contains(pred) || others.contains(pred))
          return std::nullopt;
        if (on->kind == off->kind && on->kind != Kind::Other)
          return on;
        return made([&] {
          Value chosen = batcher->batched(pred);
          if (rankOf(pred) == 0)
            chosen = stablehlo::BroadcastInDimOp::create(
                *builder, loc,
                batcher->typeOf(select.getType()).clone(builder->getI1Type()),
                chosen, ArrayRef<int64_t>{0});
          return stablehlo::SelectOp::create(*builder, loc, chosen,
                                             valueAt(*on, select),
                                             valueAt(*off, select));
        });
      })
      .Case<stablehlo::ReshapeOp, stablehlo::ConvertOp>(
          [&](auto same) -> std::optional<Slope> {
            std::optional<Slope> slope = of(0);
            if (!slope || slope->kind != Kind::Other)
              return slope;
            return made([&] {
              return decltype(same)::create(
                  *builder, loc, batcher->typeOf(same.getType()), slope->value);
            });
          })
      .Default([](Operation *) { return std::nullopt; });
}

std::string StateSlope::check() {
  if (find(scan.next(number), nullptr))
    return "";
  std::string line = describeSourceLine(scan.next(number).getLoc());
  return "the state that it carries" +
         (line.empty() ? "" : ", made at " + line + ",") +
         " is not a product of the last one, element by element, plus what "
         "depends on no state";
}

bool StateSlope::isSelected() {
  (void)find(scan.next(number), nullptr);
  return llvm::any_of(found, [](const auto &entry) {
    return entry.second && entry.second->kind == Slope::Kind::Other &&
           isa_and_nonnull<stablehlo::SelectOp>(entry.first.getDefiningOp());
  });
}

Value StateSlope::emit(Batcher &batcher, OpBuilder &at) {
  builder = &at;
  found.clear();
  std::optional<Slope> slope = find(scan.next(number), &batcher);
  if (slope->kind == Slope::Kind::One)
    return Value();
  return valueOf(*slope, scan.next(number).getType(), batcher);
}

Value mlir::sp::passOn(OpBuilder &builder, Location loc, Value slope,
                       Value state, bool isSelected) {
  Value product = stablehlo::MulOp::create(builder, loc, slope, state);
  if (!isSelected)
    return product;
  Value zero = neutralBroadcast(
      builder, loc, cast<RankedTensorType>(slope.getType()), Reduction::Sum);
  Value isZero = stablehlo::CompareOp::create(
      builder, loc, slope, zero, stablehlo::ComparisonDirection::EQ);
  return stablehlo::SelectOp::create(builder, loc, isZero, zero, product);
}
