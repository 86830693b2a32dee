//===- RandomOps.cpp - Random bits ----------------------------------------===//
#include "Evaluator.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"
#include <array>

using namespace mlir;
using namespace mlir::interpreter;

using Words = std::array<uint32_t, 2>;

static uint32_t rotateLeft(uint32_t x, unsigned by) {
  return x << by | x >> (32 - by);
}

/// Threefry-2x32 with 20 rounds (Salmon et al., 2011).
static Words threefry(Words x, Words key) {
  static constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6},
                                                {17, 29, 16, 24}};
  std::array<uint32_t, 3> keys{key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1]};
  x[0] += keys[0];
  x[1] += keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : kRotations[group % 2]) {
      x[0] += x[1];
      x[1] = rotateLeft(x[1], rotation) ^ x[0];
    }
    x[0] += keys[(group + 1) % 3];
    x[1] += keys[(group + 2) % 3] + group + 1;
  }
  return x;
}

static Words halves(uint64_t value) {
  return {uint32_t(value), uint32_t(value >> 32)};
}

/// 32-bit results come in pairs of one counter, next to each other along the
/// first dimension of even size (else the longest).
static int64_t pairedDimension(ArrayRef<int64_t> shape) {
  int64_t longest = 0;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size % 2 == 0)
      return int64_t(d);
    if (size > shape[longest])
      longest = int64_t(d);
  }
  return longest;
}

static void fillWords(MutableArrayRef<uint64_t> out, ArrayRef<int64_t> shape,
                      Words key, uint64_t &counter) {
  if (shape.empty()) {
    out[0] = threefry(halves(counter++), key)[0];
    return;
  }
  int64_t paired = pairedDimension(shape);
  SmallVector<int64_t> pairs(shape), strides = stridesOf(shape);
  pairs[paired] = (shape[paired] + 1) / 2;
  forEachIndex(pairs, [&](ArrayRef<int64_t> index) {
    Words words = threefry(halves(counter++), key);
    int64_t offset = index[paired] * strides[paired];
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      offset += i * stride;
    out[offset] = words[0];
    if (2 * index[paired] + 1 < shape[paired])
      out[offset + strides[paired]] = words[1];
  });
}

static FailureOr<Tensors> rngBitGeneratorOp(stablehlo::RngBitGeneratorOp op,
                                            Tensors &operands, Evaluator &) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  Tensor &state = operands[0];
  bool isState = state.getStorage() == Storage::Unsigned &&
                 state.getShape() == ArrayRef<int64_t>{2} &&
                 state.getElementType().isInteger(64);
  if (op.getRngAlgorithm() != stablehlo::RngAlgorithm::THREE_FRY || !isState ||
      (width != 32 && width != 64))
    return op.emitOpError()
           << "is evaluated for algorithm THREE_FRY, a state of type "
              "tensor<2xui64> and results of 32 or 64 bits only";
  Words key = halves(state.at<uint64_t>(0));
  uint64_t counter = state.at<uint64_t>(1);
  Tensor output(type);
  std::vector<uint64_t> bits(output.size());
  if (width == 32)
    fillWords(bits, type.getShape(), key, counter);
  else
    for (uint64_t &value : bits) {
      Words words = threefry(halves(counter++), key);
      value = words[0] | uint64_t(words[1]) << 32;
    }
  if (output.getStorage() == Storage::Unsigned)
    llvm::copy(bits, output.mutableElements<uint64_t>().begin());
  else
    llvm::transform(bits, output.mutableElements<int64_t>().begin(),
                    [&](uint64_t value) { return wrapSigned(value, width); });
  state.mutableElements<uint64_t>()[1] = counter;
  Tensors results;
  results.push_back(std::move(state));
  results.push_back(std::move(output));
  return results;
}

void interpreter::addRandomOps(Handlers &handlers) {
  handlers.add<stablehlo::RngBitGeneratorOp>(rngBitGeneratorOp);
}
