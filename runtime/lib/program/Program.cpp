#include "program/Program.h"

#include <cstring>

namespace sprt {

namespace {

/// The CPU features a plan may ask for, by the names LLVM uses.
struct Feature {
  const char *name;
  bool present;
};

std::vector<Feature> machineFeatures() {
  std::vector<Feature> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define SPRT_FEATURE(name)                                                     \
  features.push_back({name, __builtin_cpu_supports(name) != 0})
  SPRT_FEATURE("sse4.2");
  SPRT_FEATURE("avx");
  SPRT_FEATURE("avx2");
  SPRT_FEATURE("fma");
  SPRT_FEATURE("bmi");
  SPRT_FEATURE("bmi2");
  SPRT_FEATURE("f16c");
  SPRT_FEATURE("lzcnt");
  SPRT_FEATURE("popcnt");
  SPRT_FEATURE("avx512f");
  SPRT_FEATURE("avx512bw");
  SPRT_FEATURE("avx512cd");
  SPRT_FEATURE("avx512dq");
  SPRT_FEATURE("avx512vl");
  SPRT_FEATURE("avx512vnni");
  SPRT_FEATURE("avx512bf16");
  SPRT_FEATURE("avx512vbmi");
  SPRT_FEATURE("avx512vpopcntdq");
#undef SPRT_FEATURE
#endif
  return features;
}

std::vector<int64_t> shapeOf(const plan::ParameterT &parameter, bool local) {
  std::vector<int64_t> shape;
  for (const auto &dim : parameter.dims) {
    int64_t size = 1;
    for (const auto &atom : dim->atoms)
      size *= local ? atom->local_size : atom->size;
    shape.push_back(size);
  }
  return shape;
}

algebra::Bands toAlgebra(const std::vector<plan::Band> &list) {
  std::vector<algebra::Band> bands;
  for (const plan::Band &band : list)
    bands.push_back({band.q0(), band.q1(), band.k0(), band.k1(), band.lo(),
                     band.hi(), band.uniform()});
  return algebra::Bands(std::move(bands));
}

std::vector<ParameterInfo>
describe(const std::vector<std::unique_ptr<plan::ParameterT>> &parameters) {
  std::vector<ParameterInfo> infos;
  for (const auto &parameter : parameters)
    infos.push_back({parameter.get(), static_cast<sprt_dtype>(parameter->type),
                     shapeOf(*parameter, false), shapeOf(*parameter, true)});
  return infos;
}

} // namespace

Status unpackPlan(const void *bytes, size_t size, const Signatures *signatures,
                  std::unique_ptr<plan::PlanT> &out_plan,
                  std::vector<algebra::Layout> &out_layouts) {
  // FlatBuffers wants its root aligned; artifacts promise it, memory may not.
  std::vector<uint64_t> aligned((size + 7) / 8);
  if (size != 0)
    std::memcpy(aligned.data(), bytes, size);
  const uint8_t *data = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier verifier(data, size, /*max_depth=*/256);
  if (size < 12 || !plan::VerifyPlanBuffer(verifier))
    return fail(SPRT_DAMAGED)
           << "expected a plan but got " << size
           << " bytes that are not one; compile the model again";
  std::unique_ptr<plan::PlanT> unpacked = plan::UnPackPlan(data);
  if (unpacked->version != SPRT_ABI_VERSION)
    return fail(SPRT_UNSUPPORTED)
           << "expected a plan of version " << SPRT_ABI_VERSION << " but got "
           << unpacked->version
           << "; use the runtime that belongs to the compiler, or compile "
              "again";
  if (Status failure = validatePlan(*unpacked, signatures, out_layouts))
    return std::move(failure).within("damaged plan");
  out_plan = std::move(unpacked);
  return Status::success();
}

Status Program::checkFeatures() const {
  std::vector<Feature> machine = machineFeatures();
  std::string missing;
  for (const std::string &wanted : plan->features) {
    bool present = false;
    for (const Feature &feature : machine)
      present |= wanted == feature.name && feature.present;
    if (!present)
      missing += (missing.empty() ? "" : ", ") + wanted;
  }
  if (missing.empty())
    return Status::success();
  return fail(SPRT_UNSUPPORTED)
         << "the kernels need CPU features that this machine lacks: " << missing
         << "; compile with --cpu=native here, or with --cpu=x86-64-v3";
}

Status Program::findKernels(sprt_kernel_lookup lookup, void *context) {
  auto find = [&](const std::string &symbol) {
    return lookup ? lookup(symbol.c_str(), context) : nullptr;
  };
  for (const auto &kernel : plan->kernels) {
    sprt_kernel found = find(kernel->symbol);
    if (isForDevice()) {
      auto *thread = reinterpret_cast<void *>(found);
      auto *whole =
          reinterpret_cast<void *>(find(kernel->symbol + "_emulated"));
      emulatedThreads.push_back(reinterpret_cast<sprt_emulated_thread>(thread));
      emulatedKernels.push_back(reinterpret_cast<sprt_emulated_kernel>(whole));
      continue;
    }
    if (!found)
      return fail(SPRT_DAMAGED) << "the plan calls kernel \"" << kernel->symbol
                                << "\" but the artifact does not define it";
    kernels.push_back(found);
  }
  return Status::success();
}

Status Program::findImages(sprt_kernel_lookup lookup, void *context) {
  for (const auto &image : plan->images) {
    images.push_back(reinterpret_cast<const std::byte *>(
        lookup ? lookup(image->symbol.c_str(), context) : nullptr));
    if (!images.back())
      return fail(SPRT_DAMAGED)
             << "the plan has image \"" << image->symbol << "\" for "
             << image->architecture << " but the artifact does not define it";
  }
  return Status::success();
}

Status Program::read(const void *bytes, size_t size,
                     std::unique_ptr<Signatures> known) {
  signatures = std::move(known);
  if (Status failure = unpackPlan(bytes, size, signatures.get(), plan,
                                  bindings.whole.layouts))
    return failure;
  for (const auto &kernel : plan->kernels)
    signatureOf.push_back(signatures ? signatures->find(kernel->symbol)
                                     : nullptr);
  prepare();
  return Status::success();
}

Status Program::create(const void *bytes, size_t size, const void *constantData,
                       sprt_kernel_lookup lookup, void *context,
                       std::unique_ptr<Signatures> known) {
  if (Status failure = read(bytes, size, std::move(known)))
    return failure;
  if (Status failure = checkFeatures())
    return failure;
  if (plan->constant_bytes > 0 && !constantData)
    return fail(SPRT_DAMAGED)
           << "the plan reads " << plan->constant_bytes
           << " bytes of constants but the artifact has none";
  constants = static_cast<const std::byte *>(constantData);
  if (Status failure = findKernels(lookup, context))
    return failure;
  return findImages(lookup, context);
}

int32_t Program::maskNumber(const plan::CommandT &command) {
  const plan::AttendT *attend = command.operation.AsAttend();
  const auto *backward = command.operation.AsAttendBackward();
  const plan::SendRecvT *transfer = command.operation.AsSendRecv();
  auto numberOf = [this](const auto &shows) {
    std::vector<int64_t> key = {shows.documents};
    for (const plan::Band &band : shows.bands)
      key.insert(key.end(), {band.q0(), band.q1(), band.k0(), band.k1(),
                             band.lo(), band.hi(), int64_t(band.uniform())});
    auto [known, isNew] = maskNumbers.try_emplace(
        std::move(key), static_cast<int32_t>(bindings.whole.masks.size()));
    if (isNew) {
      bindings.whole.masks.push_back(toAlgebra(shows.bands));
      documentsOf.push_back(shows.documents);
    }
    return known->second;
  };
  return attend                        ? numberOf(*attend)
         : backward                    ? numberOf(*backward)
         : transfer && transfer->needs ? numberOf(*transfer->needs)
                                       : -1;
}

void Program::number(
    const std::vector<std::unique_ptr<plan::CommandT>> &commands,
    std::vector<Step> &out) {
  for (const auto &command : commands) {
    Step step;
    step.id = static_cast<int32_t>(maskOf.size());
    step.command = command.get();
    maskOf.push_back(maskNumber(*command));
    usesStream[static_cast<int>(command->stream)] = true;
    usesRows |= command->row != nullptr;
    if (const plan::LoopT *loop = command->operation.AsLoop())
      number(loop->body, step.body);
    if (const plan::WhileT *loop = command->operation.AsWhile()) {
      number(loop->condition, step.condition);
      number(loop->body, step.body);
    }
    if (const plan::CaseT *choice = command->operation.AsCase())
      for (const auto &branch : choice->branches)
        number(branch->body, step.branches.emplace_back());
    out.push_back(std::move(step));
  }
}

void Program::collect(const std::vector<Step> &list) {
  for (const Step &step : list) {
    stepOf[static_cast<size_t>(step.id)] = &step;
    collect(step.condition);
    collect(step.body);
    for (const std::vector<Step> &branch : step.branches)
      collect(branch);
  }
}

void Program::prepare() {
  number(plan->commands, steps);
  stepOf.resize(maskOf.size());
  collect(steps);
  inputs = describe(plan->inputs);
  results = describe(plan->results);
  for (const auto &factor : plan->factors)
    if (!factor->is_part)
      mesh += (mesh.empty() ? "" : ",") + factor->name + "=" +
              std::to_string(factor->size);
}

std::vector<int64_t> Program::processOf() const {
  std::vector<int64_t> processes(static_cast<size_t>(ranks()));
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    int64_t process = plan->processes.empty() ? rank : 0;
    for (uint32_t number : plan->processes) {
      const plan::FactorT &factor = *plan->factors[number];
      process = process * factor.size + rank / factor.stride % factor.size;
    }
    processes[static_cast<size_t>(rank)] = process;
  }
  return processes;
}

std::vector<int64_t> Program::coordinates(int64_t rank) const {
  std::vector<int64_t> result;
  for (const auto &factor : plan->factors)
    result.push_back(rank / factor->stride % factor->size);
  return result;
}

} // namespace sprt
