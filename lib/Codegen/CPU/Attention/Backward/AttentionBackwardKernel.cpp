// The kernel around the products: tiles, blocks of keys, slices, query heads,
// blocks of queries.
//
//   for each tile (batch, kv head)
//     for each block of keys
//       pack K and V
//       for each slice, each query head, each block of queries that sees it
//         pack Q and dO; the products; dQ is added to memory
//       add dK and dV to memory
#include "CPU/Attention/Backward/AttentionBackwardTerms.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionKernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "sprt/kernel.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

using Predicate = arith::CmpIPredicate;

// Queries are packed, and their gradients added to memory, once per block of
// keys, so that is large, though with its gradients it leaves a core's
// second-level cache: it is read and written in order. P and dS stay there
// because blocks of queries are small.
static constexpr int64_t kKeyBytes = 1024 * 1024, kMostKeys = 512;
static constexpr int64_t kQueryBytes = 128 * 1024, kMostQueries = 64;

/// Rows of `rowBytes` that fit in `bytes`: `most` halved as often as needed.
static int64_t chooseBlock(int64_t rowBytes, int64_t bytes, int64_t most) {
  constexpr int64_t least = 32;
  while (most > least && most * rowBytes > bytes)
    most /= 2;
  return most;
}

BackwardShape::BackwardShape(const AttentionBackwardConfig &config)
    : Registers(config.elementType, config.vectorBits,
                config.bf16Dots && config.elementType.isBF16()),
      headSize(config.headSize), valueSize(config.valueSize),
      headPad(llvm::alignTo(headSize, panel)),
      valuePad(llvm::alignTo(valueSize, panel)),
      headWords(llvm::alignTo(llvm::divideCeil(headSize, pair), panel)),
      valueWords(llvm::alignTo(llvm::divideCeil(valueSize, pair), panel)),
      hasWeights(ScoreFunction(config).results() ==
                 3 + config.termGradients.size()) {
  // Twice: keys have gradients, queries are packed in two ways.
  int64_t rowBytes = 2 * (headPad + valuePad) * elementBytes;
  keyBlock = chooseBlock(rowBytes, kKeyBytes, kMostKeys);
  queryBlock = chooseBlock(rowBytes, kQueryBytes, kMostQueries);
  panels = queryBlock / panel;

  bytes = 0;
  auto reserveBytes = [&](int64_t size) {
    int64_t offset = bytes;
    bytes += llvm::alignTo(size, kLineBytes);
    return offset;
  };
  auto reserve = [&](int64_t elements) {
    return reserveBytes(elements * elementBytes);
  };
  bool hasPairs = pair == 2;
  ScoreFunction score(config);
  keyWords = reserve(keyBlock * headWords);
  valueWordRows = reserve(keyBlock * valueWords);
  keyRows = hasPairs ? reserve(keyBlock / pair * headPad) : keyWords;
  keyGradients = reserve(keyBlock * headPad);
  valueGradients = reserve(keyBlock * valuePad);
  queryRows = reserve(queryBlock / pair * headPad);
  outputRows = reserve(queryBlock / pair * valuePad);
  queryColumns = reserve(queryBlock * headWords);
  outputColumns = reserve(queryBlock * valueWords);
  int64_t queryWords = llvm::alignTo(queryBlock / pair, panel);
  powers = hasPairs && score
               ? 0
               : reserve(keyBlock * (hasPairs ? panel : queryBlock));
  powerFactors = hasPairs ? reserve(keyBlock * queryWords) : powers;
  scoreFactors = reserve(keyBlock * queryWords);
  scoreColumns = hasPairs ? reserve(keyBlock / pair * panel) : scoreFactors;
  queryGradients = reserve(panel * headPad);
  slopes = score ? reserve(keyBlock * panel) : 0;
  weights = hasWeights ? reserve(keyBlock * panel) : 0;
  lse = reserve(queryBlock);
  lseRest = score ? 0 : reserve(queryBlock);
  inverse = score ? reserve(queryBlock) : 0;
  delta = reserve(queryBlock);
  lower = reserve(queryBlock);
  upper = reserve(queryBlock);
  ranges = reserveBytes(panels * 4 * sizeof(int64_t));
  scoreAreas = ScoreAreas(score, *this, queryBlock, reserveBytes);
  placeTerms(config, reserve);
}

BackwardEmitter::BackwardEmitter(Location loc,
                                 const AttentionBackwardConfig &config)
    : VectorEmitter(loc, config.elementType, BackwardShape(config)),
      shape(config), score(config) {}

LogicalResult
sp::verifyAttentionBackwardKernel(Location loc,
                                  const AttentionBackwardConfig &config) {
  AttentionKernelConfig forward;
  forward.headSize = config.headSize;
  forward.valueSize = config.valueSize;
  forward.elementType = config.elementType;
  forward.vectorBits = config.vectorBits;
  if (failed(verifyAttentionKernel(loc, forward)))
    return failure();
  ScoreFunction score(config);
  size_t gradients = config.termGradients.size();
  if (!score && gradients != 0)
    return emitError(loc) << "expected a score function that gives derivatives "
                             "by terms";
  if (score && score.results() != 2 + gradients &&
      score.results() != 3 + gradients)
    return emitError(loc) << "expected score function '"
                          << score.function.getName()
                          << "' to give an exponent, its slope, at most a "
                             "weight and "
                          << gradients << " derivatives but got "
                          << score.results() << " results";
  return success();
}

std::string
sp::attentionBackwardKernelName(const AttentionBackwardConfig &config) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "attend_backward_" << config.elementType << "_d" << config.headSize;
  if (config.valueSize != config.headSize)
    stream << 'x' << config.valueSize;
  if (config.score)
    stream << '_' << func::FuncOp(config.score).getName();
  for (auto [perQuery, perKey] : config.termGradients)
    stream << (perQuery && perKey ? "_of_pairs"
               : perQuery         ? "_of_queries"
               : perKey           ? "_of_keys"
                                  : "_of_heads");
  return name;
}

int64_t
sp::attentionBackwardScratchBytes(const AttentionBackwardConfig &config) {
  return BackwardShape(config).bytes;
}

namespace {
/// A launch: its arguments, and how they make tiles.
struct Launch : Arguments {
  Launch(BackwardEmitter &e, Value buffers, Value sizes, Value scratch)
      : Arguments{e, buffers, sizes, scratch}, e(e) {}

  BackwardEmitter &e;
  Value sliceCount = size(SPRT_BACKWARD_SLICE_COUNT);

  Value isSet(int64_t index) {
    return e.compare(Predicate::ne, size(index), e.integer(0));
  }
  BackwardTile locateTile(Value batch, Value kvHead);
  QueryHead locateHead(const BackwardTile &tile, Value batch, Value head);
  void forEachHead(Value kvHead, function_ref<void(Value)> body);
  Value isSeen(const KeyBlock &keys);
  Value sawKeys(const BackwardTile &tile, Value index);
  void attendSlice(const BackwardTile &tile, const KeyBlock &keys,
                   const QueryHead &head, const Slice &slice);
  void attendKeys(const BackwardTile &tile, Value batch, Value kvHead,
                  KeyBlock keys);
  void runTile(Value index);
};
} // namespace

BackwardTile Launch::locateTile(Value batch, Value kvHead) {
  const BackwardShape &s = e.shape;
  Type stored = e.storedType, computed = e.scalarType;
  BackwardTile tile;
  tile.queries = size(SPRT_BACKWARD_QUERIES);
  tile.keys = size(SPRT_BACKWARD_KEYS);
  Value scale = number(SPRT_BACKWARD_SCALE);
  tile.scale = inLanes(e, scale);
  // Rounded as the forward's is, which lse is made with.
  Value log2e =
      arith::ConstantOp::create(e, e.getF64FloatAttr(llvm::numbers::log2e));
  tile.exponentScale = inLanes(e, e.mulf(scale, log2e));
  tile.initialiseQueries = isSet(SPRT_BACKWARD_INIT_QUERIES);
  tile.initialiseKeys = isSet(SPRT_BACKWARD_INIT_KEYS);
  tile.k =
      rows(SPRT_BACKWARD_K, SPRT_BACKWARD_K_STRIDES, stored, batch, kvHead);
  tile.v =
      rows(SPRT_BACKWARD_V, SPRT_BACKWARD_V_STRIDES, stored, batch, kvHead);
  tile.dk =
      rows(SPRT_BACKWARD_DK, SPRT_BACKWARD_DK_STRIDES, computed, batch, kvHead);
  tile.dv =
      rows(SPRT_BACKWARD_DV, SPRT_BACKWARD_DV_STRIDES, computed, batch, kvHead);
  auto area = [&](int64_t offset) {
    return e.at(scratch, offset, e.getI8Type());
  };
  tile.keyWords = {area(s.keyWords), s.keyBlock};
  tile.valueWords = {area(s.valueWordRows), s.keyBlock};
  tile.keyRows = {area(s.keyRows), s.keyBlock / s.pair};
  tile.keyGradients = {area(s.keyGradients), s.keyBlock};
  tile.valueGradients = {area(s.valueGradients), s.keyBlock};
  tile.queryRows = {area(s.queryRows), s.queryBlock / s.pair};
  tile.outputRows = {area(s.outputRows), s.queryBlock / s.pair};
  tile.queryColumns = {area(s.queryColumns), s.headWords};
  tile.outputColumns = {area(s.outputColumns), s.valueWords};
  tile.powers = {area(s.powers), s.keyBlock};
  tile.powerFactors = {area(s.powerFactors), s.keyBlock};
  tile.scoreFactors = {area(s.scoreFactors), s.keyBlock};
  tile.scoreColumns = {area(s.scoreColumns), s.keyBlock / s.pair};
  tile.queryGradients = {area(s.queryGradients), s.panel};
  tile.slopes = {area(s.slopes), s.keyBlock};
  tile.weights = {area(s.weights), s.keyBlock};
  tile.lse = area(s.lse);
  tile.lseRest = area(s.lseRest);
  tile.inverse = area(s.inverse);
  tile.delta = area(s.delta);
  tile.lower = area(s.lower);
  tile.upper = area(s.upper);
  tile.ranges = area(s.ranges);
  for (const TermShape &term : s.terms)
    tile.terms.push_back({{area(term.factors), s.keyBlock}, area(term.parts)});
  return tile;
}

QueryHead Launch::locateHead(const BackwardTile &tile, Value batch,
                             Value head) {
  Type stored = e.storedType, computed = e.scalarType;
  QueryHead all;
  all.q = rows(SPRT_BACKWARD_Q, SPRT_BACKWARD_Q_STRIDES, stored, batch, head);
  all.dO =
      rows(SPRT_BACKWARD_DO, SPRT_BACKWARD_DO_STRIDES, stored, batch, head);
  all.lse =
      rows(SPRT_BACKWARD_LSE, SPRT_BACKWARD_LSE_STRIDES, computed, batch, head);
  all.delta = rows(SPRT_BACKWARD_DELTA, SPRT_BACKWARD_DELTA_STRIDES, computed,
                   batch, head);
  all.dq =
      rows(SPRT_BACKWARD_DQ, SPRT_BACKWARD_DQ_STRIDES, computed, batch, head);
  if (!e.score)
    return all;
  all.score =
      locateScore(*this, e.score, e.shape.scoreAreas,
                  SPRT_BACKWARD_QUERY_POSITIONS, SPRT_BACKWARD_TERM_STRIDES);
  all.score.queries = tile.queries;
  all.score.keys = tile.keys;
  all.score.batch = batch;
  all.score.head = head;
  all.score.globalHead = e.add(head, size(SPRT_BACKWARD_HEAD_FIRST));
  int64_t number = static_cast<int64_t>(all.score.terms.size());
  for (size_t i = 0; i < e.shape.terms.size(); ++i, ++number) {
    int64_t strides = SPRT_BACKWARD_TERM_STRIDES + 4 * number;
    Value offset =
        e.add(e.mul(batch, size(strides)), e.mul(head, size(strides + 1)));
    all.terms.push_back(
        {e.at(buffer(SPRT_BACKWARD_TERMS + number), offset, computed),
         size(strides + 2), size(strides + 3)});
  }
  return all;
}

/// The query heads that read a kv head.
void Launch::forEachHead(Value kvHead, function_ref<void(Value)> body) {
  loop(e, e.integer(0), size(SPRT_BACKWARD_HEADS), 1, [&](Value head) {
    Value reads = this->kvHead(SPRT_BACKWARD_HEAD_FIRST,
                               e.add(head, size(SPRT_BACKWARD_HEAD_FIRST)));
    ifThen(e, e.compare(Predicate::eq, reads, kvHead), [&] { body(head); });
  });
}

/// Whether a slice meets the block of keys.
Value Launch::isSeen(const KeyBlock &keys) {
  Value end = e.add(keys.first, keys.valid);
  Value no = arith::ConstantIntOp::create(e, 0, 1);
  return loop(e, e.integer(0), sliceCount, 1, no,
              [&](Value index, ValueRange so) -> SmallVector<Value> {
                Slice slice = this->slice(SPRT_BACKWARD_SLICES, index);
                Value meets = arith::AndIOp::create(
                    e, e.compare(Predicate::slt, slice.k0, end),
                    e.compare(Predicate::sgt, slice.k1, keys.first));
                return {arith::OrIOp::create(e, so[0], meets)};
              })[0];
}

/// Whether a query of the block saw keys at all.
Value Launch::sawKeys(const BackwardTile &tile, Value index) {
  Value lse = e.load(e.scalarType, e.at(tile.lse, index, e.scalarType));
  Value none = arith::ConstantOp::create(
      e,
      e.getFloatAttr(e.scalarType, -std::numeric_limits<double>::infinity()));
  return arith::CmpFOp::create(e, arith::CmpFPredicate::UNE, lse, none);
}

void Launch::attendSlice(const BackwardTile &tile, const KeyBlock &keys,
                         const QueryHead &head, const Slice &slice) {
  const BackwardShape &s = e.shape;
  Value end = e.least(slice.q1, tile.queries);
  Value keyEnd = e.add(keys.first, keys.valid);
  clearKeySums(e, tile, keys, slice);
  loop(e, slice.q0, end, s.queryBlock, [&](Value first) {
    Value count = e.least(e.sub(end, first), e.integer(s.queryBlock));
    Value last = e.sub(e.add(first, count), e.integer(1));
    ifThen(e, mayMeet(e, slice, first, last, keys.first, keyEnd), [&] {
      Value panels = arith::DivUIOp::create(
          e, e.add(count, e.integer(s.panel - 1)), e.integer(s.panel));
      QueryBlock block{first,      tile.queries, tile.keys,  panels,
                       tile.lower, tile.upper,   tile.ranges};
      packNumbers(e, tile, head, block);
      auto seen = boundSlice(e, block, slice,
                             [&](Value index) { return sawKeys(tile, index); });
      attendBlock(e, tile, head, block, keys, seen);
    });
  });
  addKeySums(e, tile, head, keys, slice);
}

void Launch::attendKeys(const BackwardTile &tile, Value batch, Value kvHead,
                        KeyBlock keys) {
  const BackwardShape &s = e.shape;
  keys.isFinite =
      allFinite(e, packKeys(e, tile.k, keys.first, keys.valid, keys.count,
                            s.headSize, tile.keyWords, &tile.keyRows));
  packKeys(e, tile.v, keys.first, keys.valid, keys.count, s.valueSize,
           tile.valueWords, /*pairs=*/nullptr);
  loop(e, e.integer(0), sliceCount, 1, [&](Value number) {
    Slice slice = this->slice(SPRT_BACKWARD_SLICES, number);
    forEachHead(kvHead, [&](Value head) {
      attendSlice(tile, keys, locateHead(tile, batch, head), slice);
    });
  });
}

void Launch::runTile(Value index) {
  const BackwardShape &s = e.shape;
  Value kvHeads = size(SPRT_BACKWARD_KV_HEADS);
  Value batch = arith::DivSIOp::create(e, index, kvHeads);
  Value kvHead = arith::RemSIOp::create(e, index, kvHeads);
  BackwardTile tile = locateTile(batch, kvHead);
  ifThen(e, tile.initialiseQueries, [&] {
    forEachHead(kvHead, [&](Value head) {
      clearRows(e, locateHead(tile, batch, head).dq, tile.queries, s.headSize);
    });
  });
  loop(e, e.integer(0), tile.keys, s.keyBlock, [&](Value first) {
    KeyBlock keys;
    keys.first = first;
    keys.valid = e.least(e.sub(tile.keys, first), e.integer(s.keyBlock));
    keys.count = e.alignUp(keys.valid, s.tile);
    Value isSeen = this->isSeen(keys);
    ifThen(e, arith::OrIOp::create(e, tile.initialiseKeys, isSeen), [&] {
      clearMatrix(e, tile.keyGradients, keys.count, s.headSize);
      clearMatrix(e, tile.valueGradients, keys.count, s.valueSize);
      // A block of a ring that no query sees may not have come.
      ifThen(e, isSeen, [&] { attendKeys(tile, batch, kvHead, keys); });
      addMatrix(e, tile.keyGradients, tile.dk, first, keys.valid, s.headSize,
                tile.initialiseKeys);
      addMatrix(e, tile.valueGradients, tile.dv, first, keys.valid, s.valueSize,
                tile.initialiseKeys);
    });
  });
}

func::FuncOp
sp::buildAttentionBackwardKernel(ModuleOp module, Location loc,
                                 const AttentionBackwardConfig &config) {
  std::string name = attentionBackwardKernelName(config);
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  BackwardEmitter e(loc, config);
  func::FuncOp function = beginKernel(e, module, name);
  Block *entry = &function.getBody().front();
  Launch launch(e, entry->getArgument(0), entry->getArgument(1),
                entry->getArgument(4));
  loop(e, entry->getArgument(2), entry->getArgument(3), 1,
       [&](Value index) { launch.runTile(index); });
  func::ReturnOp::create(e);
  return function;
}
