/// What a user may ask of sp-compile.
#ifndef SP_TOOLS_SPCOMPILE_OPTIONS_H
#define SP_TOOLS_SPCOMPILE_OPTIONS_H

#include "sp/Checkpoint/Passes.h"
#include "sp/Codegen/Target.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::sp {

struct CompileOptions {
  std::string model, output;
  std::string mesh, seqAxis, batchAxis, tensorAxis;
  std::string strategy = "auto", layout = "auto", placement = "head-first";
  std::string backward; ///< empty: not given
  Checkpoint checkpoint = Checkpoint::AsWritten;
  /// Factors of the sequence axis, and groups of heads; 0: not given.
  int64_t heads = 0, inner = 0, headGroups = 0;
  bool bidirectional = false;
  /// Of regions in which rows do not meet; 0: as memory asks for.
  int64_t rowBlocks = 0;
  int64_t chunks = 1;        ///< turns of a rank's sequence
  int64_t tokensPerRank = 0; ///< where documents deal them; 0: not given
  int64_t accumulate = 1;    ///< micro-batches that run in turn
  bool offload = false;      ///< what waits long lies in far memory
  bool offloadState = false; ///< and donated arguments
  /// Whether the user has said what --memory-limit may change otherwise.
  bool offloadGiven = false, checkpointGiven = false, chunksGiven = false;
  int64_t zero = 0; ///< stage of ZeRO
  std::string zeroAxes;
  std::vector<std::string> shard;
  std::string documents;          ///< an argument; empty: not given
  std::optional<CudaTarget> cuda; ///< of --target=cuda
  std::string cpu = "native", bf16 = "fastest", precision = "default";
  std::string emit = "spx", report, svg;
  /// Bytes a rank may use, if limited.
  std::optional<int64_t> memoryLimit;
  bool strict = false;
  bool explain = false;
};

/// Parses the command line. On success `status` is empty; otherwise the tool is
/// done (help, version, wrong usage, an option of a later version) and exits
/// with it.
CompileOptions parseOptions(int argc, char **argv, std::optional<int> &status);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_OPTIONS_H
