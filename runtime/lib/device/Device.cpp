#include "device/Device.h"

#include "device/EmulatedDevice.h"

#include <cstdlib>
#include <cstring>

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

Status openDevice(const std::string &name,
                  std::shared_ptr<Device> &out_device) {
  uint64_t seed = 0;
  if (name != "emulated")
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected device \"emulated\" but got \"" << name << "\"";
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
