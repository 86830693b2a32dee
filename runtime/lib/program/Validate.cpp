#include "program/Validate.h"

#include "program/LayoutOf.h"
#include "program/Program.h"

#include <set>

namespace sprt {

namespace {
constexpr int64_t kMaxRanks = algebra::Layout::maxRanks;
constexpr size_t kMaxEvents = size_t(1) << 20;

/// The factors that count processes give every rank a number of its own.
Status checkProcesses(const plan::PlanT &plan) {
  int64_t counted = plan.processes.empty() ? plan.ranks : 1;
  std::set<std::pair<int64_t, int64_t>> spans; // stride to stride * size
  for (uint32_t number : plan.processes) {
    if (number >= plan.factors.size())
      return fail(SPRT_DAMAGED) << "processes count factor " << number << " of "
                                << plan.factors.size();
    const plan::FactorT &factor = *plan.factors[number];
    counted = std::min(counted * factor.size, plan.ranks + 1);
    if (factor.size > 1)
      spans.emplace(factor.stride, factor.stride * factor.size);
  }
  int64_t reached = 1;
  for (auto [stride, end] : spans)
    reached = stride == reached ? end : plan.ranks + 1;
  bool isBijection = plan.processes.empty() || reached == plan.ranks;
  if (counted != plan.ranks || !isBijection)
    return fail(SPRT_DAMAGED)
           << "the factors that number processes do not count " << plan.ranks
           << " ranks once";
  return Status::success();
}

Status checkMesh(const plan::PlanT &plan) {
  if (plan.ranks < 1 || plan.ranks > kMaxRanks)
    return fail(SPRT_DAMAGED)
           << "expected 1 to " << kMaxRanks << " ranks but got " << plan.ranks;
  int64_t counted = 1; // by whole axes
  for (const auto &factor : plan.factors) {
    if (!factor || factor->size < 1 || factor->stride < 1 ||
        factor->size > plan.ranks || factor->stride > plan.ranks ||
        plan.ranks % (factor->size * factor->stride) != 0)
      return fail(SPRT_DAMAGED)
             << "a mesh factor does not divide " << plan.ranks << " ranks";
    if (!factor->is_part)
      counted = std::min(counted * factor->size, plan.ranks + 1);
  }
  if (counted != plan.ranks)
    return fail(SPRT_DAMAGED)
           << "the axes of the mesh do not count " << plan.ranks << " ranks";
  return checkProcesses(plan);
}

Status checkLayouts(const plan::PlanT &plan,
                    std::vector<algebra::Layout> &out_layouts) {
  for (const auto &layout : plan.layouts) {
    if (!layout || !isEnum(layout->kind))
      return fail(SPRT_DAMAGED) << "unknown kind of layout";
    if (std::string flaw = flawOf(*layout); !flaw.empty())
      return fail(SPRT_DAMAGED) << flaw;
    out_layouts.push_back(layoutOf(*layout));
  }
  return Status::success();
}

/// What a block of threads has at most, on any GPU up to Hopper.
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxSharedBytes = 232448;

Status checkKernels(const plan::PlanT &plan) {
  for (const auto &kernel : plan.kernels) {
    if (!kernel || kernel->symbol.empty())
      return fail(SPRT_DAMAGED) << "a kernel without a symbol";
    if (!isForDevice(plan))
      continue;
    if (kernel->threads < 1 || kernel->threads > kMaxThreads)
      return fail(SPRT_DAMAGED)
             << "expected 1 to " << kMaxThreads << " threads of kernel \""
             << kernel->symbol << "\" but got " << kernel->threads;
    if (kernel->shared_bytes < 0 || kernel->shared_bytes > kMaxSharedBytes)
      return fail(SPRT_DAMAGED)
             << "expected 0 to " << kMaxSharedBytes
             << " bytes of shared memory of kernel \"" << kernel->symbol
             << "\" but got " << kernel->shared_bytes;
  }
  return Status::success();
}

/// Numbers of documents that are an input.
Status checkNumbers(const plan::PlanT &plan,
                    const plan::DocumentNumbersT &numbers) {
  bool isResult = numbers.result >= 0;
  if (numbers.length < 1 || isResult == (numbers.input >= 0) ||
      (isResult && !plan.documents_program) ||
      (!isResult && static_cast<size_t>(numbers.input) >= plan.inputs.size()))
    return fail(SPRT_DAMAGED)
           << "documents in input " << numbers.input << " of "
           << plan.inputs.size() << ", or in result " << numbers.result;
  if (isResult)
    return Status::success();
  const plan::ParameterT &input =
      *plan.inputs[static_cast<size_t>(numbers.input)];
  algebra::Area elements = 1;
  for (const auto &dim : input.dims)
    for (const auto &atom : dim->atoms)
      elements *= static_cast<algebra::Area>(atom->size);
  bool isWhole =
      input.type >= plan::DType::i64 && input.type <= plan::DType::i1;
  if (!isWhole || elements == 0 ||
      elements % static_cast<algebra::Area>(numbers.length) != 0)
    return fail(SPRT_DAMAGED)
           << "documents of " << numbers.length << " positions in \""
           << input.name << "\", which holds " << algebra::toString(elements)
           << (isWhole ? " whole numbers" : " numbers");
  return Status::success();
}

/// By what layouts of batches are dealt.
Status checkBatch(const plan::PlanT &plan) {
  bool isDealt = false;
  for (const auto &layout : plan.layouts)
    isDealt |= layout->kind == plan::LayoutKind::batch;
  if (isDealt != (plan.batch != nullptr))
    return fail(SPRT_DAMAGED)
           << (isDealt ? "layouts of batches that nothing deals"
                       : "a batch without layouts that it deals");
  if (!isDealt)
    return Status::success();
  const plan::BatchT &batch = *plan.batch;
  if (batch.numbers >= plan.document_numbers.size())
    return fail(SPRT_DAMAGED) << "a batch by numbers " << batch.numbers
                              << " of " << plan.document_numbers.size();
  constexpr int64_t kMostCost = int64_t(1) << 40;
  for (int64_t cost : {batch.token_cost, batch.pair_cost})
    if (cost < 0 || cost > kMostCost)
      return fail(SPRT_DAMAGED)
             << "expected costs of 0 to " << kMostCost << " but got " << cost;
  return Status::success();
}

Status checkDocuments(const plan::PlanT &plan) {
  for (const auto &numbers : plan.document_numbers) {
    if (!numbers)
      return fail(SPRT_DAMAGED) << "documents of no numbers";
    if (Status failure = checkNumbers(plan, *numbers))
      return failure;
  }
  for (const auto &documents : plan.documents)
    if (!documents || documents->queries >= plan.document_numbers.size() ||
        documents->keys >= plan.document_numbers.size())
      return fail(SPRT_DAMAGED)
             << "documents of numbers beyond " << plan.document_numbers.size();
  if (plan.documents_program)
    for (uint32_t input : plan.documents_program->inputs)
      if (input >= plan.inputs.size())
        return fail(SPRT_DAMAGED) << "documents are computed of input " << input
                                  << " of " << plan.inputs.size();
  return checkBatch(plan);
}

Status checkImages(const plan::PlanT &plan) {
  if (!isForDevice(plan) && !plan.images.empty())
    return fail(SPRT_DAMAGED) << "code for GPUs in a plan for CPUs";
  for (const auto &image : plan.images) {
    if (!image || image->symbol.empty() || image->architecture.empty())
      return fail(SPRT_DAMAGED) << "an image without symbol or architecture";
    if (Status failure = checkSize(image->bytes, "an image", 1))
      return failure;
  }
  return Status::success();
}

Status checkAtom(const plan::PlanT &plan, const plan::AtomT *atom,
                 const std::string &name) {
  if (!atom)
    return fail(SPRT_DAMAGED) << "\"" << name << "\" has an empty dimension";
  if (Status failure = checkSize(atom->size, "a dimension"))
    return failure;
  if (Status failure = checkSize(atom->local_size, "a local dimension"))
    return failure;
  if (atom->layout < 0) {
    if (atom->size != atom->local_size)
      return fail(SPRT_DAMAGED)
             << "\"" << name << "\" has " << atom->size << " elements but "
             << atom->local_size << " locally, without a layout";
    return Status::success();
  }
  if (static_cast<size_t>(atom->layout) >= plan.layouts.size())
    return fail(SPRT_DAMAGED) << "\"" << name << "\" names layout "
                              << atom->layout << " of " << plan.layouts.size();
  algebra::Layout layout =
      layoutOf(*plan.layouts[static_cast<size_t>(atom->layout)]);
  if (layout.length() != atom->size || layout.maxCount() > atom->local_size)
    return fail(SPRT_DAMAGED)
           << "\"" << name << "\" deals " << atom->size << " elements, at most "
           << atom->local_size << " a rank, by " << layout.str();
  return checkExpression(atom->owner.get(),
                         {plan.factors.size(), 0, plan.layouts.size()},
                         "the owner of \"" + name + "\"");
}
} // namespace

Status checkParameter(const plan::PlanT &plan,
                      const plan::ParameterT *parameter, bool isInput) {
  if (!parameter || !isEnum(parameter->type) || !parameter->view ||
      !isEnum(parameter->view->space))
    return fail(SPRT_DAMAGED) << "an input or result without type or buffer";
  const std::string &name = parameter->name;
  int64_t local = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(parameter->type)));
  int64_t global = local;
  bool isEmpty = false;
  for (const auto &dim : parameter->dims) {
    if (!dim || dim->atoms.empty())
      return fail(SPRT_DAMAGED) << "\"" << name << "\" has an empty dimension";
    for (const auto &atom : dim->atoms) {
      if (Status failure = checkAtom(plan, atom.get(), name))
        return failure;
      isEmpty |= atom->local_size == 0;
      // Nor do the others overflow beside a dimension of none.
      if (__builtin_mul_overflow(local, std::max<int64_t>(atom->local_size, 1),
                                 &local) ||
          __builtin_mul_overflow(global, std::max<int64_t>(atom->size, 1),
                                 &global))
        return fail(SPRT_DAMAGED) << "the size of \"" << name << "\" overflows";
    }
  }
  if (isEmpty)
    local = 0;
  if (isInput && parameter->view->space == plan::Space::constant)
    return fail(SPRT_DAMAGED)
           << "input \"" << name << "\" lies in constant memory";
  if (parameter->view->bytes < local || parameter->view->bytes > kMaxBytes)
    return fail(SPRT_DAMAGED)
           << "\"" << name << "\" needs " << local
           << " bytes but its buffer has " << parameter->view->bytes;
  int64_t results = static_cast<int64_t>(plan.results.size());
  if (parameter->donated_to < -1 || parameter->donated_to >= results)
    return fail(SPRT_DAMAGED) << "\"" << name << "\" is donated to result "
                              << parameter->donated_to << " of " << results;
  return checkExpression(parameter->view->offset.get(),
                         {plan.factors.size(), 0, plan.layouts.size()},
                         "the offset of \"" + name + "\"");
}

Status validatePlan(const plan::PlanT &plan, const Signatures *signatures,
                    std::vector<algebra::Layout> &out_layouts) {
  if (Status failure = checkMesh(plan))
    return failure;
  if (Status failure = checkLayouts(plan, out_layouts))
    return failure;
  if (Status failure = checkSize(plan.arena_bytes, "an arena"))
    return failure;
  if (Status failure = checkSize(plan.constant_bytes, "constants"))
    return failure;
  if (Status failure = checkSize(plan.far_bytes, "far memory"))
    return failure;
  if (Status failure = checkSize(plan.scratch_bytes, "scratch memory"))
    return failure;
  if (plan.events > kMaxEvents)
    return fail(SPRT_DAMAGED) << "expected at most " << kMaxEvents
                              << " events but got " << plan.events;
  if (!isEnum(plan.target))
    return fail(SPRT_DAMAGED) << "unknown target " << int(plan.target);
  if (Status failure = checkKernels(plan))
    return failure;
  if (Status failure = checkImages(plan))
    return failure;
  std::set<std::string> names;
  for (const auto &input : plan.inputs) {
    if (Status failure = checkParameter(plan, input.get(), /*isInput=*/true))
      return failure;
    if (!names.insert(input->name).second)
      return fail(SPRT_DAMAGED)
             << "two inputs are called \"" << input->name << "\"";
  }
  for (const auto &result : plan.results)
    if (Status failure = checkParameter(plan, result.get(), /*isInput=*/false))
      return failure;
  if (Status failure = checkDocuments(plan))
    return failure;
  KernelValidator kernels(plan, signatures);
  if (Status failure = kernels.checkSignatures())
    return failure;
  return CommandValidator(plan, out_layouts, kernels).check(plan.commands);
}

} // namespace sprt
