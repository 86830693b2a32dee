#include "Checkpoint.h"

#include "sprt/files.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr char kIndex[] = "model.safetensors.index.json";
/// Of one file, unless a single array is larger.
constexpr uint64_t kMostBytes = uint64_t(4) << 30;
/// That an index can say, to which others are added.
constexpr int64_t kMostSteps = int64_t(1) << 60;

uint64_t bytesOf(const sprt_array &array) {
  uint64_t bytes = sprt_dtype_size(array.dtype);
  for (int32_t d = 0; d < array.dimensions; ++d)
    bytes *= static_cast<uint64_t>(array.shape[d]);
  return bytes;
}

bool cannot(const char *what, const fs::path &path, int code) {
  printError(path.string() + ": cannot be " + what + ": " +
             std::strerror(code));
  return false;
}

/// Waits until a file or the names in a folder would survive the machine.
bool keep(const fs::path &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool kept = file >= 0 && (::fsync(file) == 0 || errno == EINVAL);
  int code = errno;
  if (file >= 0)
    ::close(file);
  return kept || cannot("written", path, code);
}

/// Which time a file of a checkpoint is of, 0 for a name that has none; -1 for
/// other files.
int64_t timeOf(const std::string &name) {
  int64_t time = 0, part = 0, parts = 0;
  int end = 0;
  auto isWhole = [&] { return end == static_cast<int>(name.size()); };
  if (std::sscanf(name.c_str(),
                  "model-%" SCNd64 "-%" SCNd64 "-of-%" SCNd64 ".safetensors%n",
                  &time, &part, &parts, &end) == 3 &&
      isWhole())
    return time;
  end = 0;
  bool isFile = std::sscanf(name.c_str(),
                            "model-%" SCNd64 "-of-%" SCNd64 ".safetensors%n",
                            &part, &parts, &end) == 2 &&
                isWhole();
  return isFile ? 0 : -1;
}

std::vector<std::string> filesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator each(folder, failed), end; !failed && each != end;
       each.increment(failed))
    names.push_back(each->path().filename());
  return names;
}

/// What the last one left, and drafts of those that were killed.
void removeOthers(const std::string &folder,
                  const std::set<std::string> &files) {
  std::error_code ignored;
  for (const std::string &name : filesIn(folder))
    if ((timeOf(name) >= 0 && !files.count(name)) ||
        name.rfind(".sprt-", 0) == 0)
      fs::remove(fs::path(folder) / name, ignored);
}

/// The index, in the place of the one that is there.
bool replaceIndex(const fs::path &folder, const std::string &text) {
  fs::path draft = folder / (std::string(".sprt-") + kIndex);
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return cannot("written", draft, errno);
  if (!keep(draft) || !keep(folder))
    return false;
  if (std::rename(draft.c_str(), (folder / kIndex).c_str()) != 0)
    return cannot("written", folder / kIndex, errno);
  return keep(folder);
}

/// Where arrays are, by name, and how many steps made them.
bool readIndex(const fs::path &path, std::map<std::string, std::string> &places,
               int64_t &out_step) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return cannot("read", path, errno);
  // Text as a step, since any may be metadata.
  Json index = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (index.is_object() && index["weight_map"].is_object()) {
    bool areNames = true;
    for (const auto &[name, place] : index["weight_map"].items()) {
      areNames &= place.is_string();
      if (areNames)
        places[name] = fs::path(place.get<std::string>()).filename();
    }
    const Json &metadata = index["metadata"];
    if (metadata.is_object() && metadata.contains("step") &&
        metadata["step"].is_string() &&
        (!parseNumber(metadata["step"].get<std::string>(), out_step) ||
         out_step < 0 || out_step > kMostSteps))
      out_step = 0;
    if (areNames)
      return true;
  }
  printError(path.string() +
             ": expected a JSON object whose \"weight_map\" names a file for "
             "each array; the checkpoint is damaged");
  return false;
}

/// What is wrong with an array, or "".
std::string compare(const std::string &name, const sprt_array &got,
                    const sprt_parameter &wanted) {
  bool isSame = got.dtype == wanted.dtype &&
                got.dimensions == wanted.dimensions &&
                std::equal(got.shape, got.shape + got.dimensions, wanted.shape);
  if (isSame)
    return "";
  return name + " is " + describe(got.dtype, got.dimensions, got.shape) +
         " where the program has " +
         describe(wanted.dtype, wanted.dimensions, wanted.shape);
}

std::string listed(const std::vector<std::string> &problems) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < problems.size() && i < kMost; ++i)
    text += (i ? ", " : "") + problems[i];
  if (problems.size() > kMost)
    text += ", and " + std::to_string(problems.size() - kMost) + " more";
  return text;
}

} // namespace

bool loadState(const std::string &folder, const sprt_program *program,
               const std::vector<StateArray> &state, Checkpoint &out_loaded) {
  std::map<std::string, std::string> places;
  if (!readIndex(fs::path(folder) / kIndex, places, out_loaded.step))
    return false;
  std::set<std::string> files;
  for (const auto &[name, file] : places)
    files.insert(file);
  std::map<std::string, sprt_array> found;
  for (const std::string &file : files) {
    sprt_arrays *arrays = nullptr;
    if (failed(sprt_arrays_read((fs::path(folder) / file).c_str(), &arrays)))
      return false;
    out_loaded.owners.emplace_back(arrays);
    for (int64_t i = 0; i < sprt_arrays_count(arrays); ++i) {
      const char *name = nullptr;
      sprt_array array;
      if (failed(sprt_arrays_get(arrays, i, &name, &array)))
        return false;
      auto place = places.find(name);
      if (place == places.end() || place->second == file)
        found[name] = array;
    }
  }
  std::vector<std::string> problems;
  std::set<std::string> wanted;
  for (const StateArray &each : state) {
    wanted.insert(each.name);
    auto array = found.find(each.name);
    std::string problem =
        array == found.end()
            ? each.name + " is missing"
            : compare(each.name, array->second, inputOf(program, each.input));
    if (problem.empty())
      out_loaded.arrays[each.input] = array->second;
    else
      problems.push_back(problem);
  }
  for (const auto &[name, array] : found)
    if (!wanted.count(name))
      problems.push_back(name + " is none of the program's");
  if (problems.empty())
    return true;
  printError("expected the state of this program in " + folder + " but " +
             listed(problems) +
             "; --load takes what --save, or TrainStep.save, wrote of this "
             "model under any mesh");
  return false;
}

bool prepareSave(const std::string &folder, const sprt_program *program,
                 const std::vector<StateArray> &state) {
  if (state.empty()) {
    printError("expected results that feed inputs, which are what --save "
               "writes, but none does; donate inputs, or say "
               "--feed=result1:arg0");
    return false;
  }
  for (const StateArray &each : state)
    if (inputOf(program, each.input).dtype == SPRT_C128) {
      printError("expected state of types that safetensors have but " +
                 each.name + " is of " + sprt_dtype_name(SPRT_C128) +
                 "; keep its real and imaginary parts apart");
      return false;
    }
  std::error_code code, ignored;
  fs::create_directories(folder, code);
  if (code && !fs::is_directory(folder, ignored)) {
    printError(folder + ": cannot be made a folder: " + code.message());
    return false;
  }
  return !failed(sprt_file_check((fs::path(folder) / kIndex).c_str()));
}

bool saveState(const std::string &folder, const std::vector<StateArray> &state,
               const std::vector<sprt_array> &results, int64_t steps) {
  std::vector<std::vector<const StateArray *>> parts(1);
  uint64_t total = 0, partBytes = 0;
  auto arrayOf = [&](const StateArray &each) -> const sprt_array & {
    return results[static_cast<size_t>(each.result)];
  };
  for (const StateArray &each : state) {
    uint64_t bytes = bytesOf(arrayOf(each));
    if (!parts.back().empty() && partBytes + bytes > kMostBytes) {
      parts.emplace_back();
      partBytes = 0;
    }
    parts.back().push_back(&each);
    partBytes += bytes;
    total += bytes;
  }
  int64_t time = 1;
  for (const std::string &name : filesIn(folder))
    time = std::max(time, timeOf(name) + 1);

  Json places = Json::object();
  std::set<std::string> files;
  for (size_t part = 0; part < parts.size(); ++part) {
    char file[100];
    std::snprintf(file, sizeof file,
                  "model-%05" PRId64 "-%05zu-of-%05zu.safetensors", time,
                  part + 1, parts.size());
    files.insert(file);
    sprt_arrays *arrays = nullptr;
    if (failed(sprt_arrays_create(&arrays)))
      return false;
    ArraysPtr owner(arrays);
    for (const StateArray *each : parts[part]) {
      places[each->name] = file;
      if (failed(sprt_arrays_add(arrays, each->name.c_str(), &arrayOf(*each))))
        return false;
    }
    fs::path path = fs::path(folder) / file;
    if (failed(sprt_arrays_write(arrays, path.c_str())) || !keep(path))
      return false;
  }
  Json index = {
      {"metadata", {{"total_size", total}, {"step", std::to_string(steps)}}},
      {"weight_map", places}};
  if (!replaceIndex(folder,
                    index.dump(2, ' ', false, Json::error_handler_t::replace) +
                        "\n"))
    return false;
  removeOthers(folder, files);
  return true;
}
