#include "device/Device.h"

#include "device/EmulatedDevice.h"
#ifdef SPRT_HAS_CUDA
#include "device/DriverDevice.h"
#endif

#include <cstdlib>

namespace sprt {

namespace {

/// What repeats an emulation's order of work: SPRT_EMULATION_SEED, else 1.
Status emulationSeed(uint64_t &out_seed) {
  const char *text = std::getenv("SPRT_EMULATION_SEED");
  out_seed = 1;
  if (!text)
    return Status::success();
  char *end = nullptr;
  out_seed = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a number in SPRT_EMULATION_SEED but got \"" << text
           << "\"";
  return Status::success();
}

} // namespace

/// The GPU of a number.
static Status openGpu(int number, std::shared_ptr<Device> &out_device) {
#ifdef SPRT_HAS_CUDA
  auto gpu = std::make_shared<DriverDevice>();
  if (Status failure = gpu->open(number))
    return failure;
  out_device = std::move(gpu);
  return Status::success();
#else
  (void)out_device;
  return fail(SPRT_UNSUPPORTED)
         << "GPU " << number
         << ": this runtime was built without cuda.h; build it where CUDA's "
            "headers are, or run with --device=emulated";
#endif
}

Status openDevice(const std::string &name,
                  std::shared_ptr<Device> &out_device) {
  if (name != "emulated") {
    bool isNumber = !name.empty() && name.size() <= 4 &&
                    name.find_first_not_of("0123456789") == std::string::npos;
    if (isNumber)
      return openGpu(std::stoi(name), out_device);
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected the number of a GPU or \"emulated\" but got \"" << name
           << "\"";
  }
  uint64_t seed = 0;
  if (Status failure = emulationSeed(seed))
    return failure;
  out_device = std::make_shared<EmulatedDevice>(seed);
  return Status::success();
}

Status checkMemory(const Program &program, int64_t ranks,
                   const Device::Capability &capability) {
  int64_t arenas = 0, needed = 0;
  bool overflows =
      __builtin_mul_overflow(program.plan->arena_bytes, ranks, &arenas) ||
      __builtin_add_overflow(arenas, program.plan->constant_bytes, &needed);
  if (!overflows && needed <= capability.freeBytes)
    return Status::success();
  int64_t fits = program.plan->constant_bytes < capability.freeBytes
                     ? (capability.freeBytes - program.plan->constant_bytes) /
                           program.plan->arena_bytes
                     : 0;
  Failure failure = fail(SPRT_UNSUPPORTED);
  failure << ranks << " ranks of " << program.plan->arena_bytes << " bytes and "
          << program.plan->constant_bytes << " bytes of constants";
  if (!overflows)
    failure << " are " << needed - capability.freeBytes
            << " bytes more than the " << capability.freeBytes << " of "
            << capability.memoryBytes << " that are free on " << capability.name
            << ", where " << fits << " would fit";
  return failure
         << "; compile for more ranks, or with --memory-limit or --offload";
}

} // namespace sprt
