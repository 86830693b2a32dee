#include "device/DriverKernels.h"

#include "device/Device.h"

namespace sprt {

/// Numbers of the images that a GPU can run, best first.
static std::vector<size_t> runnable(const Program &program, int architecture) {
  std::vector<size_t> numbers;
  for (Fit wanted : {Fit::native, Fit::portable})
    for (size_t i = 0; i < program.images.size(); ++i)
      if (fitOf(*program.plan->images[i], architecture) == wanted)
        numbers.push_back(i);
  return numbers;
}

Status DriverKernels::unsupported(const Program &program,
                                  const plan::KernelT &kernel) const {
  std::string held;
  for (const auto &image : program.plan->images)
    if (held.find(image->architecture) == std::string::npos)
      held += (held.empty() ? "" : ", ") + image->architecture;
  std::string exact = "sm_" + std::to_string(gpu.architecture);
  return fail(SPRT_UNSUPPORTED)
         << gpu.name << " is " << exact << " but the artifact has kernel \""
         << kernel.symbol << "\" for " << (held.empty() ? "none" : held)
         << "; compile with --arch=" << exact
         << ", or run with --device=emulated";
}

Status DriverKernels::load(const Program &program, const std::string &symbol,
                           CUfunction &out_function) {
  std::vector<size_t> usable = runnable(program, gpu.architecture);
  for (size_t i = 0; i < usable.size() && !out_function; ++i) {
    if (i == modules.size())
      SPRT_CALL(gpu, cuModuleLoadData, &modules.emplace_back(),
                program.images[usable[i]]);
    CUresult found = gpu.driver.cuModuleGetFunction(&out_function, modules[i],
                                                    symbol.c_str());
    if (found == CUDA_ERROR_NOT_FOUND)
      out_function = nullptr;
    else if (Status failure = gpu.check(found, "cuModuleGetFunction"))
      return std::move(failure).within("kernel \"" + symbol + "\"");
  }
  return Status::success();
}

Status DriverKernels::find(const Program &program, uint32_t number) {
  kernels.resize(program.plan->kernels.size());
  Kernel &found = kernels[number];
  if (found.function)
    return Status::success();
  const plan::KernelT &kernel = *program.plan->kernels[number];
  if (Status failure = load(program, kernel.symbol, found.function))
    return failure;
  if (!found.function)
    return unsupported(program, kernel);
  SPRT_CALL(gpu, cuFuncSetAttribute, found.function,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            static_cast<int>(kernel.shared_bytes));
  int blocks = 0;
  SPRT_CALL(gpu, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
            found.function, static_cast<int>(kernel.threads),
            static_cast<size_t>(kernel.shared_bytes));
  if (blocks < 1)
    return fail(SPRT_UNSUPPORTED)
           << gpu.name << " has no room for a block of kernel \""
           << kernel.symbol << "\" with " << kernel.threads << " threads and "
           << kernel.shared_bytes << " bytes of shared memory";
  found.residentBlocks = blocks;
  return Status::success();
}

void DriverKernels::close() {
  for (CUmodule module : modules)
    (void)gpu.driver.cuModuleUnload(module);
}

} // namespace sprt
