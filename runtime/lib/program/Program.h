/// A loaded program: the checked plan, its kernels and its constants.
#ifndef SPRT_LIB_PROGRAM_PROGRAM_H
#define SPRT_LIB_PROGRAM_PROGRAM_H

#include "program/Expression.h"
#include "program/Signatures.h"
#include "program/Target.h"
#include "sprt/algebra/Bands.h"
#include "sprt/cuda/Emulated.h"
#include "sprt/sprt.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sprt {

/// A command with its number: commands are counted in the order of the plan's
/// text, bodies after their heads.
struct Step {
  int32_t id = 0;
  const plan::CommandT *command = nullptr;
  std::vector<Step> condition;             ///< While
  std::vector<Step> body;                  ///< Loop, While
  std::vector<std::vector<Step>> branches; ///< Case
};

/// What masks show and how layouts are dealt, each by number.
struct Binding {
  std::vector<algebra::Bands> masks;
  std::vector<algebra::Layout> layouts;
};

/// The same as a run has them: for all rows of the batch as one, and for each
/// row where they are known.
struct Bindings {
  Binding whole;
  std::vector<Binding> rows;
};

/// An input or result, global and local.
struct ParameterInfo {
  const plan::ParameterT *parameter = nullptr;
  sprt_dtype dtype = SPRT_F32;
  std::vector<int64_t> shape;      ///< global
  std::vector<int64_t> localShape; ///< padded
};

/// How many streams there are; compute is the first.
inline constexpr int kStreams = 5;

class Program {
public:
  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Loads model.spx after checking its trailer.
  Status load(const std::string &path);
  /// Takes a plan from memory. With `signatures` its kernels are checked
  /// against them; without, whoever has made both answers for them.
  Status create(const void *bytes, size_t size, const void *constantData,
                sprt_kernel_lookup lookup, void *context,
                std::unique_ptr<Signatures> signatures = nullptr);

  /// Takes a plan of which nothing is run: no kernels, no constants.
  Status read(const void *bytes, size_t size,
              std::unique_ptr<Signatures> signatures);

  int64_t ranks() const { return plan->ranks; }
  /// How many streams the plan uses.
  int streams() const {
    return static_cast<int>(
        std::count(std::begin(usesStream), std::end(usesStream), true));
  }
  /// The rank's coordinate along every factor.
  std::vector<int64_t> coordinates(int64_t rank) const;
  /// The process that runs each rank, when processes are launched one a rank.
  std::vector<int64_t> processOf() const;

  std::unique_ptr<plan::PlanT> plan;
  std::vector<Step> steps;
  /// All commands by number, and of attention or a ring's transfer the number
  /// of its mask, else -1.
  std::vector<const Step *> stepOf;
  std::vector<int32_t> maskOf;
  /// What is said before documents are known, and by mask which documents of
  /// the plan cut it, or -1.
  Bindings bindings;
  std::vector<int32_t> documentsOf;
  const algebra::Bands &maskIn(const Binding &ofRun, const Step &step) const {
    return ofRun
        .masks[static_cast<size_t>(maskOf[static_cast<size_t>(step.id)])];
  }
  bool isForDevice() const { return sprt::isForDevice(*plan); }

  /// By kernel; null where whoever made it answers for it.
  std::vector<const plan::SignatureT *> signatureOf;
  /// By kernel, of a program for the CPU.
  std::vector<sprt_kernel> kernels;
  /// By kernel, of a program for devices: attention, and the others. Null where
  /// it cannot be emulated.
  std::vector<sprt_emulated_kernel> emulatedKernels;
  std::vector<sprt_emulated_thread> emulatedThreads;
  std::vector<const std::byte *> images; ///< code for GPUs
  std::vector<ParameterInfo> inputs;
  std::vector<ParameterInfo> results;
  /// Computes numbers of documents; null where they are inputs.
  std::unique_ptr<Program> documentsProgram;
  std::string mesh;
  const std::byte *constants = nullptr;
  bool usesStream[kStreams] = {true};
  bool usesRows = false; ///< commands are of rows of the batch

private:
  Status checkFeatures() const;
  /// Loads the program that the plan holds, and checks that it fits.
  Status loadDocumentsProgram();
  Status checkDocumentsProgram() const;
  Status findKernels(sprt_kernel_lookup lookup, void *context);
  Status findImages(sprt_kernel_lookup lookup, void *context);
  /// Numbers the commands and gathers what the executor wants at hand.
  void prepare();
  void number(const std::vector<std::unique_ptr<plan::CommandT>> &commands,
              std::vector<Step> &out);
  /// Equal ones have one number.
  int32_t maskNumber(const plan::CommandT &command);
  void collect(const std::vector<Step> &steps);

  std::unique_ptr<Signatures> signatures;
  std::map<std::vector<int64_t>, int32_t> maskNumbers;
  void *library = nullptr; ///< dlopen's handle
};

/// Whether every index, size and expression of a plan makes sense.
Status validatePlan(const plan::PlanT &plan, const Signatures *signatures,
                    std::vector<algebra::Layout> &out_layouts);

/// Verifies the bytes of a plan, unpacks it and validates it.
Status unpackPlan(const void *bytes, size_t size, const Signatures *signatures,
                  std::unique_ptr<plan::PlanT> &out_plan,
                  std::vector<algebra::Layout> &out_layouts);

/// The plan as text.
std::string planText(const plan::PlanT &plan);

} // namespace sprt

struct sprt_program : sprt::Program {};

#endif // SPRT_LIB_PROGRAM_PROGRAM_H
