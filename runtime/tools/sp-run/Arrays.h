/// Inputs, results and reference of a run, as named global arrays.
#ifndef SP_RUN_ARRAYS_H
#define SP_RUN_ARRAYS_H

#include "Options.h"
#include "sprt/sprt.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

struct FreeArrays {
  void operator()(sprt_arrays *arrays) const { sprt_arrays_free(arrays); }
};
struct FreeProgram {
  void operator()(sprt_program *program) const { sprt_program_free(program); }
};
struct FreeSession {
  void operator()(sprt_session *session) const { sprt_session_free(session); }
};
using ArraysPtr = std::unique_ptr<sprt_arrays, FreeArrays>;
using ProgramPtr = std::unique_ptr<sprt_program, FreeProgram>;
using SessionPtr = std::unique_ptr<sprt_session, FreeSession>;

/// Prints a diagnostic on stderr.
void printError(const std::string &text);
/// Prints and frees a status; true if there was one.
bool failed(sprt_status *status);

/// Everything that says how an input or result looks.
sprt_parameter inputOf(const sprt_program *program, int64_t index);
sprt_parameter resultOf(const sprt_program *program, int64_t index);
std::string describe(sprt_dtype dtype, int32_t dimensions,
                     const int64_t *shape);

/// Whether this machine has the memory for the program's global arrays and for
/// its largest rank, with far memory unless that is a file. False after a
/// diagnostic.
bool checkMemory(const sprt_program *program, bool farIsFile);

/// The inputs in the program's order: those that are `loaded`, by number, and
/// the rest from a file or at random. The arrays stay in `out_owner`. For
/// steps, those of a file may have one more leading axis: a batch each. False
/// after a diagnostic.
bool prepareInputs(const sprt_program *program, const Options &options,
                   const std::map<int64_t, sprt_array> &loaded,
                   ArraysPtr &out_owner, std::vector<sprt_array> &out_inputs);

/// Arrays result0, result1, … of zeros, to be filled by a run.
bool prepareResults(const sprt_program *program, ArraysPtr &out_owner,
                    std::vector<sprt_array> &out_results);

/// The array of `file` that stands for a parameter: under its name or as
/// `<prefix><index>`; with `steps`, also of that leading axis. False after a
/// diagnostic that names what was expected.
bool findArray(const sprt_arrays *file, const std::string &path,
               const sprt_parameter &parameter, const std::string &prefix,
               int64_t index, sprt_array &out_array, int64_t steps = 0);

#endif // SP_RUN_ARRAYS_H
