//===- AxisLabels.cpp - Names for the dimensions of a component -----------===//

#include "Expression/AxisLabels.h"

using namespace mlir;
using namespace mlir::sp;

AxisId AxisLabels::create(int64_t size) {
  axes.push_back({size, {}, std::nullopt});
  return axes.size() - 1;
}

AxisId AxisLabels::derive(ArrayRef<AxisId> base, int64_t start, int64_t stride,
                          int64_t size) {
  Axes resolved = resolve(base);
  for (AxisId axis = 0; axis < axes.size(); ++axis) {
    const std::optional<Derivation> &known = axes[axis].derivation;
    if (known && known->start == start && known->stride == stride &&
        axes[axis].size == size && resolve(known->base) == resolved)
      return axis;
  }
  axes.push_back({size, {}, Derivation{resolved, start, stride}});
  return axes.size() - 1;
}

const AxisLabels::Derivation *AxisLabels::derivation(AxisId axis) const {
  const std::optional<Derivation> &derivation = axes[axis].derivation;
  return derivation ? &*derivation : nullptr;
}

Axes AxisLabels::resolve(ArrayRef<AxisId> names) const {
  Axes resolved;
  for (AxisId name : names) {
    if (axes[name].parts.empty())
      resolved.push_back(name);
    else
      llvm::append_range(resolved, resolve(axes[name].parts));
  }
  return resolved;
}

Labels AxisLabels::resolveDims(ArrayRef<Axes> labels) const {
  Labels resolved;
  for (const Axes &dim : labels)
    resolved.push_back(resolve(dim));
  return resolved;
}

void AxisLabels::split(AxisId axis, int64_t outer) {
  AxisId first = create(outer);
  AxisId second = create(axes[axis].size / outer);
  axes[axis].parts = {first, second};
}

LogicalResult AxisLabels::unify(ArrayRef<AxisId> a, ArrayRef<AxisId> b) {
  SmallVector<AxisId> left(llvm::reverse(a)), right(llvm::reverse(b));
  auto pop = [&](SmallVector<AxisId> &stack) {
    Axes parts = resolve(stack.pop_back_val());
    stack.append(parts.rbegin(), parts.rend());
    return stack.pop_back_val();
  };
  while (!left.empty() && !right.empty()) {
    AxisId x = pop(left), y = pop(right);
    if (x == y)
      continue;
    if (axes[x].derivation || axes[y].derivation)
      return failure();
    if (size(x) == size(y)) {
      // The older name stays: others may hold it.
      axes[std::max(x, y)].parts = {std::min(x, y)};
      continue;
    }
    // The larger one becomes (the smaller) * (the rest).
    bool leftLarger = size(x) > size(y);
    AxisId larger = leftLarger ? x : y, smaller = leftLarger ? y : x;
    if (size(smaller) == 1) {
      (leftLarger ? left : right).push_back(larger);
      continue;
    }
    if (size(larger) % size(smaller) != 0)
      return failure();
    split(larger, size(smaller));
    left.push_back(x);
    right.push_back(y);
  }
  auto isUnit = [&](AxisId axis) { return size(axis) == 1; };
  return success(llvm::all_of(left, isUnit) && llvm::all_of(right, isUnit));
}

std::optional<Labels> AxisLabels::regroup(ArrayRef<AxisId> sequence,
                                          ArrayRef<int64_t> sizes) {
  SmallVector<AxisId> stack(llvm::reverse(sequence));
  Labels labels;
  auto isUnit = [&](AxisId axis) { return size(axis) == 1; };
  for (int64_t remaining : sizes) {
    Axes dim;
    if (remaining == 1 && !stack.empty() && isUnit(stack.back()))
      dim = resolve(stack.pop_back_val());
    while (remaining != 1) {
      if (stack.empty())
        return std::nullopt;
      Axes parts = resolve(stack.pop_back_val());
      stack.append(parts.rbegin(), parts.rend());
      AxisId axis = stack.back();
      if (remaining % size(axis) == 0) {
        remaining /= size(axis);
        if (unitAxes || !isUnit(axis))
          dim.push_back(axis);
        stack.pop_back();
        continue;
      }
      if (axes[axis].derivation || size(axis) % remaining != 0)
        return std::nullopt;
      split(axis, remaining);
    }
    labels.push_back(dim);
  }
  if (!llvm::all_of(stack, isUnit))
    return std::nullopt;
  if (unitAxes && !labels.empty())
    llvm::append_range(labels.back(), resolve(Axes(llvm::reverse(stack))));
  return labels;
}

Labels AxisLabels::fresh(ArrayRef<int64_t> shape) {
  Labels labels;
  for (int64_t extent : shape)
    labels.push_back(extent == 1 && !unitAxes ? Axes() : Axes{create(extent)});
  return labels;
}

Axes mlir::sp::flatten(ArrayRef<Axes> labels) {
  Axes all;
  for (const Axes &dim : labels)
    llvm::append_range(all, dim);
  return all;
}
