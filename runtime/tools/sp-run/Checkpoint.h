/// What a training keeps between its steps, in a folder: `--save` and `--load`.
///
///     DIR/model.safetensors.index.json                  which file has what
///     DIR/model-00003-00001-of-00002.safetensors, …     the third time it was
///                                                       saved there
///
/// Arrays are whole, so that any mesh reads them. Files of another time have
/// other names, and the index takes the place of the one before when they are
/// all there: whoever is killed meanwhile leaves what was saved before. Python
/// reads and writes the same (spmlir/checkpoints.py).
#ifndef SP_RUN_CHECKPOINT_H
#define SP_RUN_CHECKPOINT_H

#include "Arrays.h"

#include <map>

/// An array that a step makes for the next one.
struct StateArray {
  std::string name;
  int64_t input = 0;
  int64_t result = 0; ///< that feeds the input
};

/// All of them, in the order of inputs, named as `sprt_session_state_names`
/// does. False after a diagnostic.
bool stateOf(const sprt_program *program, sprt_session *session,
             std::vector<StateArray> &out_state);

/// A checkpoint that was read.
struct Checkpoint {
  std::vector<ArraysPtr> owners;
  std::map<int64_t, sprt_array> arrays; ///< by input
  /// What else was saved with it, by name: any text, of how many steps made it
  /// as well.
  std::map<std::string, std::string> notes;
};

/// Reads the folder of `--load`. False after a diagnostic that lists all that
/// is missing, left over, or of another type or shape.
bool loadState(const std::string &folder, const sprt_program *program,
               const std::vector<StateArray> &state, Checkpoint &out_loaded);

/// How many steps made what was read from the folder of `--load`, 0 where that
/// is not noted: `--save` goes on from there. False after a diagnostic.
bool countSteps(const std::string &folder, const Checkpoint &loaded,
                int64_t &out_steps);

/// Makes the folder of `--save` unless it is there, and finds out whether an
/// index can be written: asked before long work. False after a diagnostic.
bool prepareSave(const std::string &folder, const sprt_program *program,
                 const std::vector<StateArray> &state);

/// Writes what `results` have of the state, which so many steps have made, of
/// `from` at the last, whose notes it keeps. False after a diagnostic.
bool saveState(const std::string &folder, const std::vector<StateArray> &state,
               const std::vector<sprt_array> &results, const Checkpoint &from,
               int64_t steps);

#endif // SP_RUN_CHECKPOINT_H
