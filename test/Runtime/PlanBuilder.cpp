#include "PlanBuilder.h"

#include "program/LayoutOf.h"

#include <gtest/gtest.h>

namespace sprt::test {

Expr Expr::rows(int64_t layout) const {
  Expr result = *this;
  result.terms.emplace_back(plan::ExprOp::rows, layout);
  return result;
}

Expr Expr::apply(plan::ExprOp op, const Expr &other) const {
  Expr result = *this;
  result.terms.insert(result.terms.end(), other.terms.begin(),
                      other.terms.end());
  result.terms.emplace_back(op, 0);
  return result;
}

std::unique_ptr<plan::ExprT> Expr::build() const {
  auto expression = std::make_unique<plan::ExprT>();
  expression->terms = terms;
  return expression;
}

std::unique_ptr<plan::ViewT> view(const Expr &offset, int64_t bytes,
                                  plan::Space space) {
  auto result = std::make_unique<plan::ViewT>();
  result->space = space;
  result->offset = offset.build();
  result->bytes = bytes;
  return result;
}

std::unique_ptr<plan::StridedT> rowsOf(const Expr &offset, int64_t bytes,
                                       int64_t rowBytes) {
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = view(offset, bytes);
  strided->batch = 1;
  strided->row_stride = rowBytes;
  strided->inner_bytes = rowBytes;
  return strided;
}

std::unique_ptr<plan::RowsT> rows(uint32_t layout, const Expr &owner) {
  auto result = std::make_unique<plan::RowsT>();
  result->layout = layout;
  result->owner = owner.build();
  return result;
}

std::unique_ptr<plan::MovedT> moved(uint32_t layout,
                                    std::unique_ptr<plan::StridedT> source,
                                    std::unique_ptr<plan::StridedT> target) {
  auto result = std::make_unique<plan::MovedT>();
  result->layout = layout;
  result->source = std::move(source);
  result->target = std::move(target);
  return result;
}

std::unique_ptr<plan::BlockT> block(std::unique_ptr<plan::StridedT> strided,
                                    std::unique_ptr<plan::RowsT> rows,
                                    const Expr &heads) {
  auto result = std::make_unique<plan::BlockT>();
  result->strided = std::move(strided);
  result->rows = std::move(rows);
  result->heads = heads.build();
  return result;
}

PlanBuilder::PlanBuilder(int64_t ranks) {
  plan.version = SPRT_ABI_VERSION;
  plan.ranks = ranks;
  auto factor = std::make_unique<plan::FactorT>();
  factor->name = "sp";
  factor->size = ranks;
  factor->stride = 1;
  plan.factors.push_back(std::move(factor));
}

uint32_t PlanBuilder::kernel(const std::string &symbol, sprt_kernel function) {
  auto kernel = std::make_unique<plan::KernelT>();
  kernel->symbol = symbol;
  plan.kernels.push_back(std::move(kernel));
  kernels[symbol] = function;
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

PlanBuilder &PlanBuilder::target(plan::Target target) {
  plan.target = target;
  bool cuda = target == plan::Target::cuda;
  for (auto &kernel : plan.kernels)
    kernel->threads = cuda ? 128 : 0;
  if (cuda)
    for (auto [symbol, thread] : onGrid)
      kernels[symbol] =
          reinterpret_cast<sprt_kernel>(reinterpret_cast<void *>(thread));
  return *this;
}

void PlanBuilder::emulateAttention(const std::string &symbol,
                                   sprt_emulated_kernel function) {
  kernels[symbol + "_emulated"] =
      reinterpret_cast<sprt_kernel>(reinterpret_cast<void *>(function));
}

uint32_t PlanBuilder::layout(plan::LayoutKind kind, int64_t length,
                             int64_t ranks, int64_t split) {
  auto layout = std::make_unique<plan::LayoutT>();
  layout->kind = kind;
  layout->length = length;
  layout->ranks = ranks;
  layout->split = split;
  plan.layouts.push_back(std::move(layout));
  return static_cast<uint32_t>(plan.layouts.size() - 1);
}

int64_t PlanBuilder::arena(int64_t bytes) {
  int64_t offset = (plan.arena_bytes + 63) / 64 * 64;
  plan.arena_bytes = offset + bytes;
  return offset;
}

std::unique_ptr<plan::ParameterT>
PlanBuilder::parameter(const std::string &name, plan::DType type,
                       const std::vector<Dim> &dims, int64_t offset) {
  auto parameter = std::make_unique<plan::ParameterT>();
  parameter->name = name;
  parameter->type = type;
  int64_t bytes =
      static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
  for (const Dim &dim : dims) {
    auto atom = std::make_unique<plan::AtomT>();
    atom->size = atom->local_size = dim.size;
    atom->layout = dim.layout;
    if (dim.layout >= 0) {
      atom->local_size =
          layoutOf(*plan.layouts[static_cast<size_t>(dim.layout)]).maxCount();
      atom->owner = Expr::coordinate(0).build();
    }
    bytes *= atom->local_size;
    auto entry = std::make_unique<plan::DimT>();
    entry->atoms.push_back(std::move(atom));
    parameter->dims.push_back(std::move(entry));
  }
  parameter->view = view(offset, bytes);
  return parameter;
}

void PlanBuilder::input(const std::string &name, plan::DType type,
                        const std::vector<Dim> &dims, int64_t offset) {
  plan.inputs.push_back(parameter(name, type, dims, offset));
}

void PlanBuilder::result(const std::string &name, plan::DType type,
                         const std::vector<Dim> &dims, int64_t offset) {
  plan.results.push_back(parameter(name, type, dims, offset));
}

std::vector<uint8_t> PlanBuilder::bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

std::string PlanBuilder::load(sprt_program **out_program) const {
  std::vector<uint8_t> data = bytes();
  auto lookup = [](const char *symbol, void *context) -> sprt_kernel {
    auto &known =
        *static_cast<const std::map<std::string, sprt_kernel> *>(context);
    auto found = known.find(symbol);
    return found == known.end() ? nullptr : found->second;
  };
  void *context = const_cast<std::map<std::string, sprt_kernel> *>(&kernels);
  return take(sprt_program_create(data.data(), data.size(), nullptr, lookup,
                                  context, out_program));
}

std::string take(sprt_status *status) {
  std::string text = sprt_status_text(status);
  sprt_status_free(status);
  return text;
}

Runner::Runner(const PlanBuilder &builder, int threads, double timeout) {
  sprt_session_options_init(&options);
  options.threads_per_rank = threads;
  options.timeout_seconds = timeout;
  if (builder.plan.target == plan::Target::cuda)
    options.device = "emulated";
  EXPECT_EQ(builder.load(&program), "");
}

Runner::~Runner() {
  sprt_session_free(session);
  sprt_program_free(program);
}

std::string Runner::open(const sprt_session_options &with) {
  sprt_session_free(session);
  session = nullptr;
  return take(sprt_session_create(program, &with, &session));
}

std::string Runner::run(const std::vector<std::vector<float>> &inputs) {
  if (!session)
    EXPECT_EQ(open(options), "");
  std::vector<sprt_array> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    sprt_parameter parameter = {};
    parameter.size = sizeof parameter;
    EXPECT_EQ(
        take(sprt_program_input(program, static_cast<int64_t>(i), &parameter)),
        "");
    in.push_back({sizeof(sprt_array), parameter.dtype, parameter.dimensions,
                  parameter.shape, const_cast<float *>(inputs[i].data())});
  }
  int64_t count = sprt_program_result_count(program);
  results.clear();
  for (int64_t i = 0; i < count; ++i) {
    sprt_parameter parameter = {};
    parameter.size = sizeof parameter;
    EXPECT_EQ(take(sprt_program_result(program, i, &parameter)), "");
    size_t elements = 1;
    for (int32_t d = 0; d < parameter.dimensions; ++d)
      elements *= static_cast<size_t>(parameter.shape[d]);
    std::vector<float> &result = results.emplace_back(elements, -1.0F);
    out.push_back({sizeof(sprt_array), parameter.dtype, parameter.dimensions,
                   parameter.shape, result.data()});
  }
  return take(sprt_session_run(
      session, in.data(), static_cast<int64_t>(in.size()), out.data(), count));
}

sprt_rank_statistics Runner::statistics(int64_t rank) const {
  sprt_rank_statistics result = {};
  result.size = sizeof result;
  EXPECT_EQ(take(sprt_session_rank_statistics(session, rank, &result)), "");
  return result;
}

} // namespace sprt::test
