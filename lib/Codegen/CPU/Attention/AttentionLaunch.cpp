// The arguments of attention kernels.
#include "CPU/Attention/AttentionPieces.h"
#include "sprt/kernel.h"
#include <cstddef>

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

func::FuncOp attention::beginKernel(VectorEmitter &e, ModuleOp module,
                                    StringRef name) {
  e.setInsertionPointToEnd(module.getBody());
  auto type = e.getFunctionType({e.pointerType, e.pointerType, e.getI64Type(),
                                 e.getI64Type(), e.pointerType},
                                {});
  auto function = func::FuncOp::create(e, name, type);
  e.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

Value Arguments::size(int64_t index) {
  return e.load(e.getI64Type(), e.at(sizes, index, e.getI64Type()));
}

Value Arguments::buffer(int64_t index) {
  return e.load(e.pointerType, e.at(buffers, index, e.pointerType));
}

Value Arguments::number(int64_t index) {
  return arith::BitcastOp::create(e, e.getF64Type(), size(index));
}

Rows Arguments::rows(int64_t bufferIndex, int64_t strides, Type type,
                     Value batch, Value head) {
  Value offset =
      e.add(e.mul(batch, size(strides)), e.mul(head, size(strides + 2)));
  return {e.at(buffer(bufferIndex), offset, type), size(strides + 1), type};
}

Value Arguments::kvHead(int64_t headFirst, Value globalHead) {
  Value total = size(headFirst + 1), kvFirst = size(headFirst + 2);
  Value kvTotal = size(headFirst + 3);
  return e.sub(arith::DivSIOp::create(e, e.mul(globalHead, kvTotal), total),
               kvFirst);
}

Slice Arguments::slice(int64_t bufferIndex, Value index) {
  Value base = e.at(buffer(bufferIndex),
                    e.mul(index, e.integer(sizeof(sprt_slice))), e.getI8Type());
  auto field = [&](size_t offset) {
    return e.load(e.getI64Type(),
                  e.at(base, static_cast<int64_t>(offset), e.getI8Type()));
  };
  return {field(offsetof(sprt_slice, q0)),
          field(offsetof(sprt_slice, q1)),
          field(offsetof(sprt_slice, k0)),
          field(offsetof(sprt_slice, k1)),
          field(offsetof(sprt_slice, lo)),
          field(offsetof(sprt_slice, hi)),
          field(offsetof(sprt_slice, qStride)),
          field(offsetof(sprt_slice, kStride)),
          field(offsetof(sprt_slice, uniform))};
}

Value attention::inLanes(VectorEmitter &e, Value number) {
  if (!e.scalarType.isF64())
    number = arith::TruncFOp::create(e, e.scalarType, number);
  return e.splat(number);
}
