#include "Arrays.h"

#include "Memory.h"
#include "Units.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

void printError(const std::string &text) {
  // A failed run says one line for each of its ranks.
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    std::fprintf(stderr, "sp-run: error: %s\n", line.c_str());
}

bool failed(sprt_status *status) {
  if (!status)
    return false;
  printError(sprt_status_text(status));
  sprt_status_free(status);
  return true;
}

sprt_parameter inputOf(const sprt_program *program, int64_t index) {
  sprt_parameter parameter = {};
  parameter.size = sizeof parameter;
  sprt_status_free(sprt_program_input(program, index, &parameter));
  return parameter;
}

sprt_parameter resultOf(const sprt_program *program, int64_t index) {
  sprt_parameter parameter = {};
  parameter.size = sizeof parameter;
  sprt_status_free(sprt_program_result(program, index, &parameter));
  return parameter;
}

std::string describe(sprt_dtype dtype, int32_t dimensions,
                     const int64_t *shape) {
  std::string text;
  for (int32_t d = 0; d < dimensions; ++d)
    text += std::to_string(shape[d]) + "x";
  return text + sprt_dtype_name(dtype);
}

namespace {

std::vector<std::string> namesOf(const sprt_arrays *file) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < sprt_arrays_count(file); ++i) {
    const char *name = nullptr;
    sprt_status_free(sprt_arrays_get(file, i, &name, nullptr));
    names.emplace_back(name);
  }
  return names;
}

/// The first names, or "none".
std::string list(const std::vector<std::string> &names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i ? ", \"" : "\"") + names[i] + "\"";
  if (names.size() > kMost)
    text += " and " + std::to_string(names.size() - kMost) + " more";
  return text.empty() ? "none" : text;
}

/// Refuses arrays of a file that no input of the program takes, but results,
/// which a file may have beside them as the reference of others.
bool checkNames(const sprt_arrays *file, const std::string &path,
                const sprt_program *program) {
  std::set<std::string> taken;
  std::vector<std::string> inputs, others;
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i) {
    std::string number = "arg" + std::to_string(i);
    std::string name = inputOf(program, i).name;
    taken.insert(sprt_arrays_find(file, number.c_str()) < 0 ? name : number);
    bool isNamed = !name.empty() && name != number;
    inputs.push_back(number + (isNamed ? "\" or \"" + name : ""));
  }
  for (int64_t i = 0; i < sprt_program_result_count(program); ++i)
    taken.insert({"result" + std::to_string(i), resultOf(program, i).name});
  for (std::string &name : namesOf(file))
    if (!taken.count(name))
      others.push_back(std::move(name));
  if (others.empty())
    return true;
  printError(path + ": expected an array for each input, " + list(inputs) +
             ", and no others but the file has " + list(others));
  return false;
}

/// Adds an array of zeros and hands out the place it has.
bool addArray(sprt_arrays *arrays, const std::string &name,
              const sprt_parameter &parameter, sprt_array &out_array) {
  sprt_array array = {sizeof array, parameter.dtype, parameter.dimensions,
                      parameter.shape, nullptr};
  return !failed(sprt_arrays_add(arrays, name.c_str(), &array)) &&
         !failed(sprt_arrays_get(arrays, sprt_arrays_count(arrays) - 1, nullptr,
                                 &out_array));
}

using Loaded = std::map<int64_t, sprt_array>;

bool randomInputs(const sprt_program *program, const Options &options,
                  const Loaded &loaded, ArraysPtr &owner,
                  std::vector<sprt_array> &inputs) {
  sprt_arrays *arrays = nullptr;
  if (failed(sprt_arrays_create(&arrays)))
    return false;
  owner.reset(arrays);
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i) {
    if (auto found = loaded.find(i); found != loaded.end()) {
      inputs.push_back(found->second);
      if (!options.saveInputs.empty() &&
          failed(sprt_arrays_add(arrays, ("arg" + std::to_string(i)).c_str(),
                                 &found->second)))
        return false;
      continue;
    }
    sprt_array array;
    if (!addArray(arrays, "arg" + std::to_string(i), inputOf(program, i),
                  array))
      return false;
    if (failed(sprt_array_fill_random(&array, *options.seed,
                                      static_cast<uint64_t>(i), options.intLow,
                                      options.intHigh)))
      return false;
    inputs.push_back(array);
  }
  return true;
}

bool readInputs(const sprt_program *program, const Options &options,
                const Loaded &loaded, ArraysPtr &owner,
                std::vector<sprt_array> &inputs) {
  sprt_arrays *arrays = nullptr;
  if (failed(sprt_arrays_read(options.inputs.c_str(), &arrays)))
    return false;
  owner.reset(arrays);
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i)
    if (auto found = loaded.find(i); found != loaded.end())
      inputs.push_back(found->second);
    else if (!findArray(arrays, options.inputs, inputOf(program, i), "arg", i,
                        inputs.emplace_back(), options.steps))
      return false;
  return checkNames(arrays, options.inputs, program);
}

bool sameSizes(const int64_t *shape, const sprt_parameter &parameter) {
  return std::equal(shape, shape + parameter.dimensions, parameter.shape);
}

} // namespace

bool findArray(const sprt_arrays *file, const std::string &path,
               const sprt_parameter &parameter, const std::string &prefix,
               int64_t index, sprt_array &out_array, int64_t steps) {
  std::string number = prefix + std::to_string(index);
  int64_t found = sprt_arrays_find(file, number.c_str());
  if (found < 0)
    found = sprt_arrays_find(file, parameter.name);
  std::string expected =
      describe(parameter.dtype, parameter.dimensions, parameter.shape);
  if (found < 0) {
    std::string names = "\"" + number + "\"";
    if (*parameter.name && number != parameter.name)
      names += " or \"" + std::string(parameter.name) + "\"";
    printError(path + ": expected an array " + names + " of " + expected +
               " but the file has " + list(namesOf(file)));
    return false;
  }
  const char *name = nullptr;
  if (failed(sprt_arrays_get(file, found, &name, &out_array)))
    return false;
  bool same = out_array.dimensions == parameter.dimensions &&
              sameSizes(out_array.shape, parameter);
  bool batches =
      steps > 0 && out_array.dimensions == parameter.dimensions + 1 &&
      out_array.shape[0] == steps && sameSizes(out_array.shape + 1, parameter);
  // A reference may have another type: it is compared as numbers.
  bool compared = prefix == "result";
  if ((same || batches) &&
      (compared || sprt_dtype_accepts(parameter.dtype, out_array.dtype)))
    return true;
  if (steps > 0)
    expected +=
        ", or " + std::to_string(steps) + "x" + expected + " for the steps,";
  printError(path + ": expected \"" + name + "\" of " + expected + " but got " +
             describe(out_array.dtype, out_array.dimensions, out_array.shape));
  return false;
}

bool checkMemory(const sprt_program *program, bool farIsFile) {
  // In double precision, where no product of sizes overflows.
  double arrays = 0;
  auto add = [&](const sprt_parameter &parameter) {
    double bytes = static_cast<double>(sprt_dtype_size(parameter.dtype));
    for (int32_t d = 0; d < parameter.dimensions; ++d)
      bytes *= static_cast<double>(parameter.shape[d]);
    arrays += bytes;
  };
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i)
    add(inputOf(program, i));
  for (int64_t i = 0; i < sprt_program_result_count(program); ++i)
    add(resultOf(program, i));
  bool onGpus = std::string(sprt_program_target(program)) == "cuda";
  int64_t far = farIsFile ? 0 : sprt_program_far_bytes(program);
  double rank = static_cast<double>(far);
  if (!onGpus)
    rank += static_cast<double>(sprt_program_peak_bytes(program));
  int64_t available = availableMemory();
  if (arrays + rank <= static_cast<double>(available))
    return true;
  auto bytes = [](auto count) {
    return sprt::tools::bytesText(static_cast<double>(count));
  };
  std::string text = "expected to need at most the " + bytes(available) +
                     " of memory that are available but got " + bytes(arrays) +
                     " for inputs and results";
  if (!onGpus)
    text += " and " + bytes(sprt_program_peak_bytes(program)) + " for a rank";
  if (far > 0)
    text += " and " + bytes(far) + " of a rank's far memory" +
            (onGpus ? "" : "; --far=DIR has that in a file");
  printError(text);
  return false;
}

bool prepareInputs(const sprt_program *program, const Options &options,
                   const Loaded &loaded, ArraysPtr &out_owner,
                   std::vector<sprt_array> &out_inputs) {
  bool random = options.seed.has_value();
  int64_t count = sprt_program_input_count(program);
  int64_t missing = count - static_cast<int64_t>(loaded.size());
  if (missing > 0 && !random && options.inputs.empty()) {
    printError("the program has " + std::to_string(missing) +
               (loaded.empty() ? "" : " more") +
               " inputs; give --inputs=FILE.npz or --random-inputs=SEED");
    return false;
  }
  if (options.inputs.empty()
          ? !randomInputs(program, options, loaded, out_owner, out_inputs)
          : !readInputs(program, options, loaded, out_owner, out_inputs))
    return false;
  return options.saveInputs.empty() ||
         !failed(
             sprt_arrays_write(out_owner.get(), options.saveInputs.c_str()));
}

bool prepareResults(const sprt_program *program, ArraysPtr &out_owner,
                    std::vector<sprt_array> &out_results) {
  sprt_arrays *arrays = nullptr;
  if (failed(sprt_arrays_create(&arrays)))
    return false;
  out_owner.reset(arrays);
  for (int64_t i = 0; i < sprt_program_result_count(program); ++i)
    if (!addArray(arrays, "result" + std::to_string(i), resultOf(program, i),
                  out_results.emplace_back()))
      return false;
  return true;
}
