#include "tiles/Gemm.h"

#include "sprt/types.h"
#include "support/Types.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <dlfcn.h>
#include <dnnl.hpp>

namespace sprt {

namespace {

/// Rows of c that a thread computes at a time, at least.
constexpr int64_t kRowBlock = 64;
/// Products and sums between two looks at whether the run goes on: so many that
/// reading b again costs nothing beside them.
constexpr double kPieceWork = 5e10;
constexpr double kMostRounds = 1024;

struct Primitive {
  dnnl::matmul matmul;
  dnnl::memory::desc a, b, bias, c, scratch;
};

dnnl::memory::data_type dataType(plan::DType type) {
  return type == plan::DType::bf16 ? dnnl::memory::data_type::bf16
                                   : dnnl::memory::data_type::f32;
}

dnnl::engine &engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

dnnl::memory::desc describe(plan::DType type, int64_t batch, int64_t rows,
                            int64_t columns,
                            const std::array<int64_t, 3> &strides) {
  // A dimension of one element has no stride of its own; oneDNN likes a dense
  // one.
  int64_t column = columns == 1 && rows > 1 ? 1 : strides[2];
  int64_t row = rows == 1 ? std::max<int64_t>(columns * column, 1) : strides[1];
  if (batch == 1)
    return {{rows, columns}, dataType(type), {row, column}};
  if (strides[0] == 0)
    return {{1, rows, columns}, dataType(type), {rows * row, row, column}};
  return {{batch, rows, columns}, dataType(type), {strides[0], row, column}};
}

dnnl::memory::desc describeBias(const GemmShape &shape) {
  if (!shape.hasBias)
    return {};
  return describe(shape.outType, std::min<int64_t>(shape.batch, 2), 1, shape.n,
                  {0, shape.n, 1});
}

dnnl::post_ops describeEnd(const GemmShape &shape) {
  dnnl::post_ops operations;
  plan::Activation activation = shape.activation;
  if (shape.onto)
    operations.append_sum();
  if (activation == plan::Activation::relu)
    operations.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (activation == plan::Activation::gelu)
    operations.append_eltwise(1, dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
  return operations;
}

/// Primitives by shape: layers and runs share them.
class Primitives {
public:
  Status find(const GemmShape &shape,
              std::shared_ptr<const Primitive> &out_primitive) {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<const Primitive> &entry = byShape[shape];
    if (!entry) {
      try {
        entry = make(shape);
      } catch (const dnnl::error &error) {
        return fail(SPRT_UNSUPPORTED)
               << "oneDNN cannot multiply " << shape.m << "x" << shape.k
               << " by " << shape.k << "x" << shape.n << " of "
               << plan::EnumNameDType(shape.type)
               << " on this machine: " << error.what();
      }
    }
    out_primitive = entry;
    return Status::success();
  }

private:
  static std::shared_ptr<const Primitive> make(const GemmShape &shape) {
    auto primitive = std::make_shared<Primitive>();
    primitive->a = describe(shape.type, shape.batch, shape.m, shape.k, shape.a);
    primitive->b = describe(shape.type, shape.batch, shape.k, shape.n, shape.b);
    primitive->c =
        describe(shape.outType, shape.batch, shape.m, shape.n, shape.c);
    primitive->bias = describeBias(shape);
    dnnl::primitive_attr attributes;
    // The library's own scratchpad may not be used by two threads at once.
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attributes.set_post_ops(describeEnd(shape));
    dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(primitive->a, primitive->b, primitive->bias,
                           primitive->c),
        attributes, engine());
    primitive->scratch = description.scratchpad_desc();
    primitive->matmul = dnnl::matmul(description);
    return primitive;
  }

  std::mutex mutex;
  std::map<GemmShape, std::shared_ptr<const Primitive>> byShape;
};

/// oneDNN's Debian build runs OpenMP inside; a rank's threads are ours.
void useOneThread() {
  using SetThreads = void (*)(int);
  static const auto setThreads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  static thread_local bool done = false;
  if (!done && setThreads)
    setThreads(1);
  done = true;
}

Status run(Primitives &primitives, const GemmShape &shape,
           const GemmData &data) {
  useOneThread();
  std::shared_ptr<const Primitive> primitive;
  if (Status failure = primitives.find(shape, primitive))
    return failure;
  static thread_local std::vector<std::byte> scratch;
  static thread_local std::optional<dnnl::stream> stream;
  try {
    if (!stream)
      stream.emplace(engine());
    if (scratch.size() < primitive->scratch.get_size())
      scratch.resize(primitive->scratch.get_size());
    auto at = [](const std::byte *data) {
      return const_cast<std::byte *>(data);
    };
    std::unordered_map<int, dnnl::memory> memory = {
        {DNNL_ARG_SRC, {primitive->a, engine(), at(data.a)}},
        {DNNL_ARG_WEIGHTS, {primitive->b, engine(), at(data.b)}},
        {DNNL_ARG_DST, {primitive->c, engine(), data.c}},
        {DNNL_ARG_SCRATCHPAD, {primitive->scratch, engine(), scratch.data()}}};
    if (shape.hasBias)
      memory.insert(
          {DNNL_ARG_BIAS, {primitive->bias, engine(), at(data.bias)}});
    primitive->matmul.execute(*stream, memory);
    stream->wait();
  } catch (const dnnl::error &error) {
    return fail(SPRT_FAILED) << "oneDNN: " << error.what();
  }
  return Status::success();
}

/// Dense f32 copy of a bf16 operand.
std::vector<float> widen(const std::byte *data, int64_t batch, int64_t rows,
                         int64_t columns,
                         const std::array<int64_t, 3> &strides) {
  const auto *from = reinterpret_cast<const uint16_t *>(data);
  std::vector<float> result;
  result.reserve(static_cast<size_t>(batch * rows * columns));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result.push_back(bf16ToFloat(
            from[b * strides[0] + i * strides[1] + j * strides[2]]));
  return result;
}

/// A bf16 product on a machine without bf16 arithmetic: in f32.
Status runWidened(Primitives &primitives, const GemmShape &shape,
                  const GemmData &data) {
  auto dense = [](int64_t rows, int64_t columns) {
    return std::array<int64_t, 3>{rows * columns, columns, 1};
  };
  GemmShape wide = shape;
  wide.type = wide.outType = plan::DType::f32;
  wide.onto = false;
  wide.a = dense(shape.m, shape.k);
  wide.b = dense(shape.k, shape.n);
  wide.c = dense(shape.m, shape.n);
  std::vector<float> left =
      widen(data.a, shape.batch, shape.m, shape.k, shape.a);
  std::vector<float> right =
      widen(data.b, shape.batch, shape.k, shape.n, shape.b);
  std::vector<float> bias,
      product(static_cast<size_t>(shape.batch * shape.m * shape.n));
  auto bytes = [](std::vector<float> &values) {
    return reinterpret_cast<std::byte *>(values.data());
  };
  bool widensBias = shape.hasBias && shape.outType == plan::DType::bf16;
  if (widensBias)
    bias = widen(data.bias, 1, 1, shape.n, {0, shape.n, 1});
  if (Status failure =
          run(primitives, wide,
              {bytes(left), bytes(right), widensBias ? bytes(bias) : data.bias,
               bytes(product)}))
    return failure;
  const float *from = product.data();
  for (int64_t batch = 0; batch < shape.batch; ++batch)
    for (int64_t i = 0; i < shape.m; ++i)
      for (int64_t j = 0; j < shape.n; ++j, ++from) {
        int64_t at = batch * shape.c[0] + i * shape.c[1] + j * shape.c[2];
        if (auto *c = reinterpret_cast<float *>(data.c); shape.onto)
          c[at] += *from;
        else if (shape.outType == plan::DType::f32)
          c[at] = *from;
        else
          reinterpret_cast<uint16_t *>(data.c)[at] = floatToBf16(*from);
      }
  return Status::success();
}

Status multiply(const GemmShape &shape, const GemmData &data) {
  static Primitives primitives;
  Status failure = run(primitives, shape, data);
  bool lacksBf16 = failure && failure->code == SPRT_UNSUPPORTED &&
                   shape.type == plan::DType::bf16;
  return lacksBf16 ? runWidened(primitives, shape, data) : std::move(failure);
}

std::array<int64_t, 3> three(const std::vector<int64_t> &strides) {
  return {strides[0], strides[1], strides[2]};
}

} // namespace

GemmShape::GemmShape(const plan::GemmT &gemm)
    : type(gemm.type), outType(gemm.out_type), batch(gemm.batch), m(gemm.m),
      n(gemm.n), k(gemm.k), a(three(gemm.a_strides)), b(three(gemm.b_strides)),
      c(three(gemm.c_strides)), hasBias(gemm.bias != nullptr),
      activation(gemm.activation), onto(gemm.onto) {
  if (batch > 1 && b[0] == 0 && a[0] == m * a[1] && c[0] == m * c[1]) {
    m *= batch;
    batch = 1;
  }
}

Status runGemm(const plan::GemmT &gemm, const GemmData &data, TilePool &pool) {
  GemmShape shape(gemm);
  bool byBatch = shape.batch >= pool.threads();
  int64_t total = byBatch ? shape.batch : shape.m;
  int64_t least = byBatch ? 1 : kRowBlock;
  double work = static_cast<double>(shape.batch) * double(shape.m) *
                double(shape.n) * double(shape.k);
  int64_t rounds = 1 + static_cast<int64_t>(std::min(
                           kMostRounds, work / pool.threads() / kPieceWork));
  int64_t pieces =
      std::clamp<int64_t>(total / least, 1, rounds * pool.threads());
  if (pieces == 1)
    return multiply(shape, data);

  int64_t inBytes =
      static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(gemm.type)));
  int64_t outBytes = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(gemm.out_type)));
  int64_t step = (total + pieces - 1) / pieces;
  std::vector<Status> failures(static_cast<size_t>(pieces));
  pool.run(pieces, [&](int64_t first, int64_t last, int) {
    for (int64_t piece = first; piece < last; ++piece) {
      int64_t begin = piece * step;
      GemmShape part = shape;
      (byBatch ? part.batch : part.m) = std::min(step, total - begin);
      if (begin >= total)
        continue;
      size_t dim = byBatch ? 0 : 1;
      failures[static_cast<size_t>(piece)] =
          multiply(part, {data.a + begin * shape.a[dim] * inBytes,
                          data.b + (byBatch ? begin * shape.b[0] * inBytes : 0),
                          data.bias, data.c + begin * shape.c[dim] * outBytes});
    }
  });
  for (Status &failure : failures)
    if (failure)
      return std::move(failure);
  return Status::success();
}

} // namespace sprt
