// Loop nests over flat spaces, cut and split as their plans say, and the stores
// of stages.

#include "Fusion/LoopNest.h"
#include "sp/IR/Attributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

LoopPlan &LoopNest::plan(const void *owner, unsigned kind, int64_t extent) {
  return plans.try_emplace({owner, kind}, extent).first->second;
}

void LoopNest::emitLoops(LoopPlan &plan, function_ref<void(Index)> body) {
  emitLoops(plan, {}, [&](Index flat, ValueRange) {
    body(std::move(flat));
    return SmallVector<Value>();
  });
}

SmallVector<Value>
LoopNest::emitLoops(LoopPlan &plan, ValueRange inits,
                    function_ref<SmallVector<Value>(Index, ValueRange)> body) {
  return emitPart(plan, plan.order(), Index(0), inits, body);
}

SmallVector<Value>
LoopNest::emitLoop(Value low, Value high, Value step, int64_t count,
                   ValueRange inits,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, low, high, step, inits);
  if (rowsOf != RowsOf::Tile && count <= kGridWidth)
    loop->setAttr(kUnrolled, b.getUnitAttr());
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  scopes.emplace_back();
  loops.push_back({loop.getInductionVar(), count});
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  loops.pop_back();
  scopes.pop_back();
  if (!inits.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value>
LoopNest::emitPart(LoopPlan &plan, ArrayRef<unsigned> order, Index flat,
                   ValueRange inits,
                   function_ref<SmallVector<Value>(Index, ValueRange)> body) {
  if (order.empty())
    return body(std::move(flat), inits);
  unsigned part = order.front();
  int64_t extent = plan.parts[part].extent;
  int64_t step = 1;
  for (unsigned inner = part + 1; inner < plan.parts.size(); ++inner)
    step *= plan.parts[inner].extent;
  SmallVector<int64_t> bounds = {0};
  bounds.append(plan.parts[part].cuts.begin(), plan.parts[part].cuts.end());
  bounds.push_back(extent);

  SmallVector<Value> state(inits);
  for (unsigned piece = 0; piece + 1 < bounds.size(); ++piece) {
    int64_t low = bounds[piece], high = bounds[piece + 1];
    if (low >= high)
      continue;
    if (low + 1 == high) {
      Index index = space.add(flat, Index(low * step));
      state = emitPart(plan, order.drop_front(), index, state, body);
      continue;
    }
    state =
        emitLoop(s.i64(low), s.i64(high), s.i64(1), high - low, state,
                 [&](Value variable, ValueRange carried) {
                   Index index =
                       space.addLoop(variable, {low, high - 1}, &plan, part);
                   return emitPart(plan, order.drop_front(),
                                   space.add(flat, space.scale(index, step)),
                                   carried, body);
                 });
  }
  return state;
}

SmallVector<Value> LoopNest::flatten(ArrayRef<Scalar> scalars) {
  SmallVector<Value> values;
  for (const Scalar &scalar : scalars) {
    values.push_back(scalar.value);
    if (scalar.imag)
      values.push_back(scalar.imag);
  }
  return values;
}

LoopNest::Scalars LoopNest::unflatten(ValueRange values, ArrayRef<Type> types) {
  Scalars scalars;
  unsigned next = 0;
  for (Type type : types) {
    Scalar scalar{values[next++], {}};
    if (isa<ComplexType>(type))
      scalar.imag = values[next++];
    scalars.push_back(scalar);
  }
  return scalars;
}

Index LoopNest::rowFlat(Value value, const Index &inner) {
  return space.add(space.scale(row, rowSize(value)), inner);
}

void LoopNest::storeElement(Value value, const Index &inner, Scalar scalar) {
  auto targets = writeTo.find(value);
  if (targets == writeTo.end())
    return;
  auto store = [&] {
    for (unsigned target : targets->second) {
      const Buffer &buffer = buffers[target];
      Index at = buffer.isTemporary ? inner : rowFlat(value, inner);
      s.store(buffer.pointer, space.materialise(b, loc, at), scalar,
              buffer.form);
    }
  };
  // Outside loops that they share, all threads of a block have the value.
  if (rowsOf == RowsOf::Block && !isSpread)
    onFirstThread(store);
  else
    store();
}

void LoopNest::setRowScalar(Value value, Scalar scalar) {
  rowScalars[value] = scalar;
}

/// A loop over [0, extent) that the threads of a block share if a row is a
/// block's. A thread takes neighbours, so that memory is read in wide pieces;
/// or, in order, one stretch of its own.
SmallVector<Value> LoopNest::emitSpread(const void *owner, unsigned kind,
                                        int64_t extent, ValueRange inits,
                                        CarryingBody body, bool inOrder) {
  if (rowsOf != RowsOf::Block)
    return emitLoops(plan(owner, kind, extent), inits, body);
  bool outer = std::exchange(isSpread, true);
  SmallVector<Value> result;
  if (inOrder) {
    int64_t stretch = llvm::divideCeil(extent, threads);
    Value low = arith::MulIOp::create(b, loc, thread, s.i64(stretch));
    Value high = arith::MinSIOp::create(
        b, loc, arith::AddIOp::create(b, loc, low, s.i64(stretch)),
        s.i64(extent));
    result = emitLoop(low, high, s.i64(1), stretch, inits,
                      [&](Value at, ValueRange state) {
                        return body(space.addValue(at, {0, extent - 1}), state);
                      });
  } else {
    int64_t width = kGridWidth;
    while (width > 1 && (extent % width != 0 || extent / width < threads))
      width /= 2;
    int64_t pieces = extent / width;
    result = emitLoop(
        thread, s.i64(pieces), s.i64(threads),
        llvm::divideCeil(pieces, threads), inits,
        [&](Value piece, ValueRange state) {
          Index first =
              space.scale(space.addValue(piece, {0, pieces - 1}), width);
          if (width == 1)
            return body(first, state);
          return emitLoop(s.i64(0), s.i64(width), s.i64(1), width, state,
                          [&](Value at, ValueRange carried) {
                            Index within = space.addValue(at, {0, width - 1});
                            return body(space.add(first, within), carried);
                          });
        });
  }
  isSpread = outer;
  return result;
}

void LoopNest::emitSpread(const void *owner, unsigned kind, int64_t extent,
                          function_ref<void(Index)> body) {
  emitSpread(owner, kind, extent, {}, [&](Index index, ValueRange) {
    body(std::move(index));
    return SmallVector<Value>();
  });
}

void LoopNest::onFirstThread(function_ref<void()> body) {
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, s.i64(0));
  auto branch = scf::IfOp::create(b, loc, isFirst, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

} // namespace mlir::sp
