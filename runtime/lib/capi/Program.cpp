#include "program/Program.h"
#include "capi/Handles.h"
#include "program/Placement.h"
#include "support/Types.h"

#include <cstdlib>
#include <cstring>

using namespace sprt;

namespace {

sprt_status *describe(const std::vector<ParameterInfo> &list, int64_t index,
                      sprt_parameter *out) {
  return guarded([&]() -> Status {
    if (!out)
      return nullArgument("out_parameter");
    if (out->size != sizeof *out)
      return wrongSize("sprt_parameter", sizeof *out, out->size);
    if (index < 0 || static_cast<size_t>(index) >= list.size())
      return fail(SPRT_INVALID_ARGUMENT) << "expected an index below "
                                         << list.size() << " but got " << index;
    const ParameterInfo &info = list[static_cast<size_t>(index)];
    out->name = info.parameter->name.c_str();
    out->dtype = info.dtype;
    out->dimensions = static_cast<int32_t>(info.shape.size());
    out->shape = info.shape.data();
    out->donated_to = info.parameter->donated_to;
    return Status::success();
  });
}

} // namespace

sprt_status *sprt_program_load(const char *path, sprt_program **out_program) {
  return guarded([&]() -> Status {
    if (!path || !out_program)
      return nullArgument(path ? "out_program" : "path");
    auto program = std::make_unique<sprt_program>();
    if (Status failure = program->load(path))
      return failure;
    *out_program = program.release();
    return Status::success();
  });
}

sprt_status *sprt_program_create(const void *plan, size_t planBytes,
                                 const void *constants,
                                 sprt_kernel_lookup lookup, void *context,
                                 sprt_program **out_program) {
  return guarded([&]() -> Status {
    if (!plan || !out_program)
      return nullArgument(plan ? "out_program" : "plan");
    auto program = std::make_unique<sprt_program>();
    if (Status failure =
            program->create(plan, planBytes, constants, lookup, context))
      return failure;
    *out_program = program.release();
    return Status::success();
  });
}

void sprt_program_free(sprt_program *program) { delete program; }

int64_t sprt_program_ranks(const sprt_program *program) {
  return program->ranks();
}
const char *sprt_program_mesh(const sprt_program *program) {
  return program->mesh.c_str();
}
const char *sprt_program_target(const sprt_program *program) {
  return plan::EnumNameTarget(program->plan->target);
}
int64_t sprt_program_command_count(const sprt_program *program) {
  return static_cast<int64_t>(program->stepOf.size());
}
int64_t sprt_program_peak_bytes(const sprt_program *program) {
  return program->plan->arena_bytes + program->plan->scratch_bytes +
         program->plan->constant_bytes;
}
int64_t sprt_program_far_bytes(const sprt_program *program) {
  return program->plan->far_bytes;
}
int64_t sprt_program_input_count(const sprt_program *program) {
  return static_cast<int64_t>(program->inputs.size());
}
int64_t sprt_program_result_count(const sprt_program *program) {
  return static_cast<int64_t>(program->results.size());
}

sprt_status *sprt_program_input(const sprt_program *program, int64_t index,
                                sprt_parameter *out_parameter) {
  return describe(program->inputs, index, out_parameter);
}

sprt_status *sprt_program_result(const sprt_program *program, int64_t index,
                                 sprt_parameter *out_parameter) {
  return describe(program->results, index, out_parameter);
}

sprt_status *sprt_program_result_rank(const sprt_program *program,
                                      int64_t result, int64_t element,
                                      int64_t *out_rank) {
  return guarded([&]() -> Status {
    if (!out_rank)
      return nullArgument("out_rank");
    if (result < 0 || static_cast<size_t>(result) >= program->results.size())
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected a result below " << program->results.size()
             << " but got " << result;
    const ParameterInfo &info = program->results[static_cast<size_t>(result)];
    int64_t elements = *elementCount(info.shape);
    if (element < 0 || element >= elements)
      return fail(SPRT_INVALID_ARGUMENT) << "expected an element below "
                                         << elements << " but got " << element;
    return rankOfElement(*program, info, element, *out_rank);
  });
}

sprt_status *sprt_program_text(const sprt_program *program, char **out_text) {
  return guarded(
      [&]() -> Status { return copyText(planText(*program->plan), out_text); });
}

sprt_status *sprt_plan_text(const void *plan, size_t planBytes,
                            char **out_text) {
  return guarded([&]() -> Status {
    if (!plan || !out_text)
      return nullArgument(plan ? "out_text" : "plan");
    std::unique_ptr<sprt::plan::PlanT> unpacked;
    std::vector<algebra::Layout> layouts;
    if (Status failure =
            sprt::unpackPlan(plan, planBytes,
                             /*signatures=*/nullptr, unpacked, layouts))
      return failure;
    return copyText(planText(*unpacked), out_text);
  });
}
