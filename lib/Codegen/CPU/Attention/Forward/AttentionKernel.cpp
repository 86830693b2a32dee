// The kernel around the register tiles: tiles, slices, blocks of keys, panels.
//
//   for each tile (batch, head, block of queries)
//     load or clear the state, pack Q
//     for each slice, each block of keys that the tile sees of it
//       pack K and V
//       for each panel of queries: scores, powers, output
//     store the state
#include "CPU/Attention/Forward/AttentionKernel.h"
#include "CPU/Attention/ControlFlow.h"
#include "CPU/Attention/Forward/AttentionParts.h"
#include "CPU/Attention/VectorMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "sprt/kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

// Packed queries with their output, and packed keys with their values, share a
// core's second-level cache. Keys are packed once per block of queries, so the
// larger share is the queries'. In a short launch much of the time the next
// block's rows are on their way: they get half of that share.
static constexpr int64_t kQueryBytes = 512 * 1024, kMostQueries = 512;
static constexpr int64_t kShortLaunch = 2048;
static constexpr int64_t kKeyBytes = 128 * 1024, kMostKeys = 256;

/// Rows of `rowBytes` that fit in `bytes`: `most` halved as often as needed.
static int64_t chooseBlock(int64_t rowBytes, int64_t bytes, int64_t most,
                           int64_t least) {
  while (most > least && most * rowBytes > bytes)
    most /= 2;
  return std::max(most, least);
}

static int64_t chooseQueries(int64_t rowBytes, bool isShort, int64_t least) {
  return chooseBlock(rowBytes, isShort ? kQueryBytes / 2 : kQueryBytes,
                     kMostQueries, least);
}

/// Whether a score function yields weights beside exponents.
static bool hasWeights(const AttentionKernelConfig &config) {
  return ScoreFunction(config).results() == 2;
}

static bool multipliesPairs(const AttentionKernelConfig &config) {
  return config.bf16Dots && config.elementType.isBF16() && !hasWeights(config);
}

Shape::Shape(const AttentionKernelConfig &config)
    : Registers(config.elementType, config.vectorBits, multipliesPairs(config)),
      headSize(config.headSize), valueSize(config.valueSize),
      signs(pair == 2           ? static_cast<int32_t>(0x80008000)
            : elementBytes == 4 ? std::numeric_limits<int32_t>::min()
                                : std::numeric_limits<int64_t>::min()),
      headWords(llvm::alignTo(llvm::divideCeil(headSize, pair), lanes)),
      valuePad(llvm::alignTo(valueSize, lanes)) {
  int64_t rowBytes = (headWords + valuePad) * elementBytes;
  bool isShort = config.launchKeys && config.launchKeys <= kShortLaunch;
  queryBlock = config.queryBlock ? config.queryBlock
                                 : chooseQueries(rowBytes, isShort, panel);
  hasOwnBlock = queryBlock != chooseQueries(rowBytes, false, panel);
  queryBlock = llvm::alignTo(queryBlock, panel);
  rowBytes = (headWords + valuePad / pair) * elementBytes;
  keyBlock = config.keyBlock ? config.keyBlock
                             : chooseBlock(rowBytes, kKeyBytes, kMostKeys, 32);
  keyBlock = llvm::alignTo(keyBlock, tile);
  panels = queryBlock / panel;
  // A cache line more, or the stripes of a row would all share one cache set.
  stripe = keyBlock / pair * tile + kLineBytes / elementBytes;

  bytes = 0;
  auto reserve = [&](int64_t size) {
    int64_t offset = bytes;
    bytes += llvm::alignTo(size, kLineBytes);
    return offset;
  };
  queries = reserve(queryBlock * headWords * elementBytes);
  output = reserve(queryBlock * valuePad * elementBytes);
  rowMax = reserve(queryBlock * elementBytes);
  rowSum = reserve(queryBlock * elementBytes);
  weightSum = pair == 1 ? rowSum : reserve(queryBlock * elementBytes);
  rowState = reserve(queryBlock * elementBytes);
  lower = reserve(queryBlock * elementBytes);
  upper = reserve(queryBlock * elementBytes);
  ranges = reserve(panels * 4 * sizeof(int64_t));
  keys = reserve(keyBlock * headWords * elementBytes);
  values = reserve(valuePad / tile * stripe * elementBytes);
  scores = reserve(keyBlock * panel * elementBytes);
  weights = hasWeights(config) ? reserve(keyBlock * panel * elementBytes) : 0;
  scoreAreas = ScoreAreas(ScoreFunction(config), *this, queryBlock, reserve);
}

int64_t Shape::headSteps() const {
  return llvm::alignTo(llvm::divideCeil(headSize, pair), unroll);
}

Emitter::Emitter(Location loc, const AttentionKernelConfig &config)
    : VectorEmitter(loc, config.elementType, Shape(config)), shape(config),
      score(config), keepsSums(config.keepsSums) {}

Value Emitter::power(Value difference) {
  return exp2(*this, score ? mulf(difference, constant(llvm::numbers::log2e))
                           : difference);
}

LogicalResult sp::verifyAttentionKernel(Location loc,
                                        const AttentionKernelConfig &config) {
  Type type = config.elementType;
  if (!type || !(type.isF32() || type.isF64() || type.isBF16() || type.isF16()))
    return emitError(loc) << "expected attention on f64, f32, bf16 or f16 but "
                             "got "
                          << type;
  constexpr int64_t largest = 4096;
  for (auto [name, size] : {std::pair("head", config.headSize),
                            std::pair("value", config.valueSize)})
    if (size < 1 || size > largest)
      return emitError(loc)
             << "expected attention " << name << " size from 1 to " << largest
             << " but got " << size;
  if (config.vectorBits != 256 && config.vectorBits != 512)
    return emitError(loc) << "expected vectors of 256 or 512 bits but got "
                          << config.vectorBits;
  for (auto [name, rows] : {std::pair("query", config.queryBlock),
                            std::pair("key", config.keyBlock)})
    if (rows < 0 || rows > largest)
      return emitError(loc) << "expected " << name << " block from 0 to "
                            << largest << " rows but got " << rows;
  return success();
}

std::string sp::attentionKernelName(const AttentionKernelConfig &config) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "attend_" << config.elementType << "_d" << config.headSize;
  if (config.valueSize != config.headSize)
    stream << 'x' << config.valueSize;
  if (Shape shape(config); shape.hasOwnBlock)
    stream << "_q" << shape.queryBlock;
  if (config.score)
    stream << '_' << func::FuncOp(config.score).getName();
  if (config.keepsSums)
    stream << "_sums";
  return name;
}

int64_t sp::attentionQueryBlock(const AttentionKernelConfig &config) {
  return Shape(config).queryBlock;
}

int64_t sp::attentionScratchBytes(const AttentionKernelConfig &config) {
  return Shape(config).bytes;
}

namespace {
/// Where a tile lies.
struct Place {
  Value batch, head, firstQuery;
};

/// A launch: its arguments, and how they make tiles.
struct Launch : Arguments {
  Launch(Emitter &e, Value buffers, Value sizes, Value scratch)
      : Arguments{e, buffers, sizes, scratch}, e(e) {}

  Emitter &e;
  Value sliceCount = size(SPRT_ATTEND_SLICE_COUNT);
  std::pair<Value, Value> rowsSeen = findRows(); ///< of queries, from and to

  std::pair<Value, Value> findRows();
  Place locate(Value index);
  Place locateNext(const Place &place);
  Tile locateTile(Value index);
  Slice loadSlice(Value index) { return slice(SPRT_ATTEND_SLICES, index); }
  Value hasWork(const Tile &tile);
};
} // namespace

static Value divideUp(Emitter &e, Value a, int64_t b) {
  return arith::DivSIOp::create(e, e.add(a, e.integer(b - 1)), e.integer(b));
}

Place Launch::locate(Value index) {
  int64_t queryBlock = e.shape.queryBlock;
  Value blocks = divideUp(e, size(SPRT_ATTEND_QUERIES), queryBlock);
  Value heads = size(SPRT_ATTEND_HEADS);
  Value batchHead = arith::DivSIOp::create(e, index, blocks);
  Value block = arith::RemSIOp::create(e, index, blocks);
  return {arith::DivSIOp::create(e, batchHead, heads),
          arith::RemSIOp::create(e, batchHead, heads),
          e.mul(block, e.integer(queryBlock))};
}

std::pair<Value, Value> Launch::findRows() {
  SmallVector<Value> rows = loop(
      e, e.integer(0), sliceCount, 1, {size(SPRT_ATTEND_QUERIES), e.integer(0)},
      [&](Value index, ValueRange so) -> SmallVector<Value> {
        Slice slice = loadSlice(index);
        return {e.least(so[0], slice.q0), e.greatest(so[1], slice.q1)};
      });
  return {rows[0], rows[1]};
}

/// The next tile that has work; after the last one, the first of the launch,
/// which most often is the first of the next launch too.
Place Launch::locateNext(const Place &place) {
  auto [from, to] = rowsSeen;
  Value block = e.integer(e.shape.queryBlock);
  Value first = e.sub(from, arith::RemSIOp::create(e, from, block));
  Value after = e.add(place.firstQuery, block);
  Value isLast = e.compare(arith::CmpIPredicate::sge, after, to);
  Value heads = size(SPRT_ATTEND_HEADS);
  Value pair = e.add(e.mul(place.batch, heads), place.head);
  pair = e.add(pair, arith::ExtUIOp::create(e, e.getI64Type(), isLast));
  pair = arith::RemSIOp::create(e, pair, e.mul(size(SPRT_ATTEND_BATCH), heads));
  return {arith::DivSIOp::create(e, pair, heads),
          arith::RemSIOp::create(e, pair, heads),
          e.select(isLast, first, after)};
}

Tile Launch::locateTile(Value index) {
  Tile tile;
  tile.scratch = scratch;
  tile.queries = size(SPRT_ATTEND_QUERIES);
  tile.keys = size(SPRT_ATTEND_KEYS);
  tile.isEmpty =
      e.compare(arith::CmpIPredicate::ne, size(SPRT_ATTEND_INIT), e.integer(0));
  Place place = locate(index);
  auto [batch, head, firstQuery] = place;
  Value globalHead = e.add(head, size(SPRT_ATTEND_HEAD_FIRST));
  Value kvHead = this->kvHead(SPRT_ATTEND_HEAD_FIRST, globalHead);

  tile.firstQuery = firstQuery;
  Value rowsLeft =
      e.least(e.sub(tile.queries, firstQuery), e.integer(e.shape.queryBlock));
  tile.panels = divideUp(e, rowsLeft, e.shape.panel);
  Type stored = e.storedType, state = e.scalarType;
  tile.q = rows(SPRT_ATTEND_Q, SPRT_ATTEND_Q_STRIDES, stored, batch, head);
  tile.k = rows(SPRT_ATTEND_K, SPRT_ATTEND_K_STRIDES, stored, batch, kvHead);
  tile.v = rows(SPRT_ATTEND_V, SPRT_ATTEND_V_STRIDES, stored, batch, kvHead);
  tile.o = rows(SPRT_ATTEND_O, SPRT_ATTEND_O_STRIDES, state, batch, head);
  tile.lse = rows(SPRT_ATTEND_LSE, SPRT_ATTEND_LSE_STRIDES, state, batch, head);
  Place next = locateNext(place);
  auto firstRow = [&](int64_t buffer, int64_t strides, Type type) {
    Rows all = rows(buffer, strides, type, next.batch, next.head);
    return e.at(all.base, e.mul(next.firstQuery, all.stride), type);
  };
  tile.nextQ = firstRow(SPRT_ATTEND_Q, SPRT_ATTEND_Q_STRIDES, stored);
  tile.nextO = firstRow(SPRT_ATTEND_O, SPRT_ATTEND_O_STRIDES, state);

  Value scale = this->number(SPRT_ATTEND_SCALE);
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(e, e.getF64FloatAttr(value));
  };
  Value isNegative =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OLT, scale, number(0));
  auto words = VectorType::get(e.shape.lanes, e.laneType);
  tile.signs = e.select(isNegative, e.integers(e.shape.signs),
                        arith::ConstantOp::create(e, e.getZeroAttr(words)));
  scale = e.mulf(scale, number(llvm::numbers::log2e));
  scale = e.select(isNegative, arith::NegFOp::create(e, scale), scale);
  // Not 0: a hidden key's score of -inf has to stay what it is.
  scale = e.larger(number(0x1p-126), scale);
  tile.scale = inLanes(e, scale);
  if (!e.score)
    return tile;
  tile.product = inLanes(e, e.mulf(scale, number(1 / llvm::numbers::log2e)));
  tile.scale = e.constant(1);
  tile.score =
      locateScore(*this, e.score, e.shape.scoreAreas,
                  SPRT_ATTEND_QUERY_POSITIONS, SPRT_ATTEND_TERM_STRIDES);
  tile.score.queries = tile.queries;
  tile.score.keys = tile.keys;
  tile.score.batch = batch;
  tile.score.head = head;
  tile.score.globalHead = globalHead;
  return tile;
}

/// Whether a tile has an empty state to write, or rows in a slice: a rank of a
/// causal ring attends with half of its rows in half of the steps.
Value Launch::hasWork(const Tile &tile) {
  Value end = e.add(tile.firstQuery, e.integer(e.shape.queryBlock));
  return loop(
      e, e.integer(0), sliceCount, 1, {tile.isEmpty},
      [&](Value index, ValueRange so) -> SmallVector<Value> {
        Slice slice = loadSlice(index);
        Value meets = arith::AndIOp::create(
            e, e.compare(arith::CmpIPredicate::slt, slice.q0, end),
            e.compare(arith::CmpIPredicate::sgt, slice.q1, tile.firstQuery));
        return {arith::OrIOp::create(e, so[0], meets)};
      })[0];
}

static void attendSlice(Emitter &e, const Tile &tile, const Slice &slice) {
  const Shape &s = e.shape;
  std::pair<Value, Value> seen = boundSlice(e, queryBlockOf(e, tile), slice);
  noteSight(e, tile);
  Value upper = seen.second;
  Value first = e.alignDown(seen.first, s.tile);
  loop(e, first, upper, s.keyBlock, [&](Value firstKey) {
    Value count = e.least(e.alignUp(e.sub(upper, firstKey), s.tile),
                          e.integer(s.keyBlock));
    Value largest = packKeys(e, tile, firstKey, count);
    // The next tile most often begins with the same keys.
    Next next;
    next.key = e.add(firstKey, e.integer(s.keyBlock));
    next.isTile = e.compare(arith::CmpIPredicate::sge, next.key, upper);
    next.key = e.select(next.isTile, first, next.key);
    PackedKeys block{firstKey, count, largest, next, slice.uniform};
    loop(e, e.integer(0), tile.panels, 1,
         [&](Value panel) { attendPanel(e, tile, panel, block); });
  });
}

func::FuncOp sp::buildAttentionKernel(ModuleOp module, Location loc,
                                      const AttentionKernelConfig &config) {
  std::string name = attentionKernelName(config);
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  Emitter e(loc, config);
  func::FuncOp function = beginKernel(e, module, name);
  Block *entry = &function.getBody().front();
  Launch launch(e, entry->getArgument(0), entry->getArgument(1),
                entry->getArgument(4));
  loop(e, entry->getArgument(2), entry->getArgument(3), 1, [&](Value index) {
    Tile tile = launch.locateTile(index);
    ifThen(e, launch.hasWork(tile), [&] {
      loadState(e, tile);
      packQueries(e, tile);
      if (e.score)
        packTerms(e, tile.score, tile.firstQuery, tile.panels);
      loop(e, e.integer(0), launch.sliceCount, 1,
           [&](Value slice) { attendSlice(e, tile, launch.loadSlice(slice)); });
      storeState(e, tile);
    });
  });
  func::ReturnOp::create(e);
  return function;
}
