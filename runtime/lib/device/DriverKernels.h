/// A program's kernels on a GPU: where their code is, and how many of their
/// blocks a processor runs at once.
#ifndef SPRT_LIB_DEVICE_DRIVERKERNELS_H
#define SPRT_LIB_DEVICE_DRIVERKERNELS_H

#include "device/DriverContext.h"
#include "program/Program.h"

namespace sprt {

class DriverKernels {
public:
  struct Kernel {
    CUfunction function = nullptr; ///< null: not found yet
    int residentBlocks = 0;        ///< of a processor
  };

  explicit DriverKernels(const DriverContext &gpu) : gpu(gpu) {}

  /// Finds a kernel in the first image that has it, of those that this GPU can
  /// run. Of one program, in the GPU's context.
  Status find(const Program &program, uint32_t number);
  const Kernel &operator[](uint32_t number) const { return kernels[number]; }
  /// Unloads the code, while that context exists.
  void close();

private:
  /// Loads the images that this GPU can run, best first, until one has it.
  Status load(const Program &program, const std::string &symbol,
              CUfunction &out_function);
  Status unsupported(const Program &program, const plan::KernelT &kernel) const;

  const DriverContext &gpu;
  std::vector<CUmodule> modules; ///< of the first images that it can run
  std::vector<Kernel> kernels;   ///< by number
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DRIVERKERNELS_H
