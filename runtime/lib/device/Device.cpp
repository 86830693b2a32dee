#include "device/Device.h"

#include "device/EmulatedDevice.h"
#include "tiles/SliceTable.h"
#ifdef SPRT_HAS_CUDA
#include "device/DriverDevice.h"
#endif

#include <algorithm>
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

/// What an emulation is like: SPRT_EMULATION_ARCHITECTURE, such as sm_80; else
/// 0, whatever an artifact is for.
Status emulationArchitecture(int &out_architecture) {
  const char *text = std::getenv("SPRT_EMULATION_ARCHITECTURE");
  out_architecture = 0;
  if (!text)
    return Status::success();
  std::string number = text;
  bool isArchitecture =
      number.compare(0, 3, "sm_") == 0 &&
      (number.size() == 5 || number.size() == 6) &&
      number.find_first_not_of("0123456789", 3) == std::string::npos;
  if (!isArchitecture)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected an architecture such as sm_80 in "
              "SPRT_EMULATION_ARCHITECTURE but got \""
           << text << "\"";
  out_architecture = std::stoi(number.substr(3));
  return Status::success();
}

} // namespace

int64_t Device::blocksAtOnce(uint32_t kernel) const {
  return std::max<int64_t>(abilities.processors - reserved, 1) *
         blocksPerProcessor(kernel);
}

Fit fitOf(const plan::ImageT &image, int architecture) {
  const std::string &code = image.architecture;
  std::string exact = "sm_" + std::to_string(architecture);
  // Code for sm_90a runs on sm_90 and no other; code for sm_80 on sm_8x.
  bool isOfFamily =
      code.size() == exact.size() &&
      code.compare(0, exact.size() - 1, exact, 0, exact.size() - 1) == 0 &&
      code.back() <= exact.back();
  if (isOfFamily || code == exact + "a")
    return Fit::native;
  const std::string ptx = "compute_";
  if (code.compare(0, ptx.size(), ptx) == 0 &&
      std::strtol(code.c_str() + ptx.size(), nullptr, 10) <= architecture)
    return Fit::portable;
  return Fit::none;
}

/// The GPU of a number.
static Status openGpu(int number, std::shared_ptr<Device> &out_device) {
#ifdef SPRT_HAS_CUDA
  return DriverDevice::open(number, out_device);
#else
  (void)out_device;
  return fail(SPRT_UNSUPPORTED)
         << "GPU " << number
         << ": this runtime was built without cuda.h and cublasLt.h; build it "
            "where CUDA's headers are, or run with --device=emulated";
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
  int architecture = 0;
  if (Status failure = emulationArchitecture(architecture))
    return failure;
  out_device = std::make_shared<EmulatedDevice>(seed, architecture);
  return Status::success();
}

Status checkMemory(const Program &program, int64_t ranks,
                   const Device::Capability &capability) {
  auto wide = [](int64_t bytes) { return static_cast<algebra::Area>(bytes); };
  bool multiplies = false;
  for (const Step *step : program.stepOf)
    multiplies |= step->command->operation.AsGemm() != nullptr;
  algebra::Area arena = wide(program.plan->arena_bytes) +
                        wide(program.plan->scratch_bytes),
                tables = tableBytes(program),
                products = wide(multiplies ? capability.productBytes : 0),
                constants = wide(program.plan->constant_bytes),
                free = wide(capability.freeBytes), count = wide(ranks),
                each = arena + tables + products,
                needed = count * each + constants;
  if (needed <= free)
    return Status::success();
  algebra::Area left = constants < free ? free - constants : 0;
  Failure failure = fail(SPRT_UNSUPPORTED);
  failure << ranks << " ranks of " << algebra::toString(each) << " bytes ("
          << algebra::toString(arena) << " of arena and scratch, "
          << algebra::toString(tables) << " of tables, "
          << algebra::toString(products) << " for products) and "
          << algebra::toString(constants) << " bytes of constants are "
          << algebra::toString(needed - free) << " bytes more than the "
          << capability.freeBytes << " of " << capability.memoryBytes
          << " that are free on " << capability.name << ", where "
          << algebra::toString(each ? left / each : 0) << " would fit";
  algebra::Area share = left / count;
  failure << "; compile for a smaller mesh or problem";
  if (share > tables + products)
    failure << ", or with --memory-limit="
            << algebra::toString(share - tables - products) << "B";
  return failure;
}

} // namespace sprt
