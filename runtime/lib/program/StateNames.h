/// Names of what a training keeps, in checkpoints.
///
///     JAX calls it                   a checkpoint
///     state['weights'][0]['qkv']     weights.0.qkv
///     state['a']['b']                state['a']['b']   where another would be
///     state['a.b']                   state['a.b']      a.b too
///
/// A path without quotes and, where all state is parts of one argument, without
/// that; the whole name where two would be alike.
#ifndef SPRT_LIB_PROGRAM_STATENAMES_H
#define SPRT_LIB_PROGRAM_STATENAMES_H

#include <cstdint>
#include <string>
#include <vector>

namespace sprt {

/// An input that a result feeds.
struct StateInput {
  int64_t number = 0;
  std::string name; ///< as the program has it, maybe empty
};

/// The names of all of them. No two are alike, and none is what the header of a
/// .safetensors file needs for itself.
std::vector<std::string> nameState(const std::vector<StateInput> &inputs);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_STATENAMES_H
