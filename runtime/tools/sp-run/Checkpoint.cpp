#include "Checkpoint.h"

#include "sprt/files.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <regex>
#include <set>

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr char kIndex[] = "model.safetensors.index.json";
/// Of what an index notes, these say bytes and steps.
constexpr char kSize[] = "total_size", kStep[] = "step";
constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";
/// Of one file, unless a single array is larger.
constexpr uint64_t kMostBytes = uint64_t(4) << 30;
/// Of an index: some ten million arrays.
constexpr uint64_t kMostIndexBytes = uint64_t(1) << 30;
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
  static const std::regex form(
      "model-(?:([0-9]{1,18})-)?[0-9]+-of-[0-9]+\\.safetensors");
  std::smatch found;
  if (!std::regex_match(name, found, form))
    return -1;
  return found[1].matched ? std::stoll(found[1]) : 0;
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
  for (const std::string &name : filesIn(folder)) {
    fs::path path = fs::path(folder) / name;
    bool isOther = (timeOf(name) >= 0 && !files.count(name)) ||
                   name.rfind(".sprt-", 0) == 0;
    if (isOther && !fs::is_directory(fs::symlink_status(path, ignored)))
      fs::remove(path, ignored);
  }
}

fs::path draftOfIndex(const fs::path &folder) {
  return folder / (std::string(".sprt-") + kIndex);
}

/// The index, in the place of the one that is there.
bool replaceIndex(const fs::path &folder, const std::string &text) {
  fs::path draft = draftOfIndex(folder);
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

bool readText(const fs::path &path, std::string &out_text) {
  if (failed(sprt_file_check_input(path.c_str())))
    return false;
  std::error_code code;
  uintmax_t bytes = fs::file_size(path, code);
  if (code)
    return cannot("read", path, code.value());
  if (bytes > kMostIndexBytes) {
    printError(path.string() + ": expected an index of at most " +
               std::to_string(kMostIndexBytes) + " bytes but got " +
               std::to_string(bytes) + "; the checkpoint is damaged");
    return false;
  }
  out_text.resize(bytes);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  return file.read(out_text.data(),
                   static_cast<std::streamsize>(out_text.size())) ||
         cannot("read", path, errno ? errno : EIO);
}

/// A value as JSON, if it is not long.
std::string excerpt(const Json &value) {
  constexpr size_t kMost = 60;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true,
                                Json::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// What is wrong with an index, or "".
std::string problemOf(const Json &index) {
  if (!index.is_object() || !index.contains("weight_map") ||
      !index["weight_map"].is_object())
    return "expected a JSON object whose \"weight_map\" names a file for each "
           "array";
  for (const auto &[name, place] : index["weight_map"].items())
    if (!place.is_string() ||
        fs::path(place.get<std::string>()).extension() != ".safetensors")
      return "expected a .safetensors file for \"" + name + "\" but got " +
             excerpt(place);
  if (index.contains("metadata") && !index["metadata"].is_object())
    return "expected \"metadata\" to be an object but got " +
           excerpt(index["metadata"]);
  return "";
}

/// Which file has which arrays; and what was noted of them.
bool readIndex(const fs::path &path,
               std::map<std::string, std::set<std::string>> &out_files,
               Checkpoint &out_loaded) {
  std::string text;
  if (!readText(path, text))
    return false;
  // Which the parser would pass over, as others do not.
  if (text.rfind(kByteOrderMark, 0) == 0) {
    printError(path.string() + ": expected JSON but it begins with a byte "
                               "order mark; write it as UTF-8 without one");
    return false;
  }
  const Json index = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (std::string problem = problemOf(index); !problem.empty()) {
    printError(path.string() + ": " + problem + "; the checkpoint is damaged");
    return false;
  }
  for (const auto &[name, place] : index["weight_map"].items())
    out_files[fs::path(place.get<std::string>()).filename()].insert(name);
  if (index.contains("metadata"))
    for (const auto &[name, value] : index["metadata"].items())
      out_loaded.notes[name] =
          value.is_string() ? value.get<std::string>() : value.dump();
  out_loaded.notes.erase(kSize);
  return true;
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

bool stateOf(const sprt_program *program, sprt_session *session,
             std::vector<StateArray> &out_state) {
  int64_t count = sprt_program_input_count(program);
  std::vector<const char *> names(static_cast<size_t>(count));
  if (failed(sprt_session_state_names(session, names.data(), count)))
    return false;
  for (int64_t i = 0; i < count; ++i)
    if (const char *name = names[static_cast<size_t>(i)])
      out_state.push_back({name, i, sprt_session_fed_by(session, i)});
  return true;
}

bool loadState(const std::string &folder, const sprt_program *program,
               const std::vector<StateArray> &state, Checkpoint &out_loaded) {
  std::map<std::string, std::set<std::string>> files;
  if (!readIndex(fs::path(folder) / kIndex, files, out_loaded))
    return false;
  std::map<std::string, sprt_array> found;
  for (auto &[file, names] : files) {
    fs::path path = fs::path(folder) / file;
    sprt_arrays *arrays = nullptr;
    if (failed(sprt_arrays_read(path.c_str(), &arrays)))
      return false;
    out_loaded.owners.emplace_back(arrays);
    std::vector<std::string> odd;
    for (int64_t i = 0; i < sprt_arrays_count(arrays); ++i) {
      const char *name = nullptr;
      sprt_array array;
      if (failed(sprt_arrays_get(arrays, i, &name, &array)))
        return false;
      found[name] = array;
      if (names.erase(name) == 0)
        odd.push_back(name);
    }
    odd.insert(odd.end(), names.begin(), names.end());
    if (!odd.empty()) {
      printError(path.string() + ": expected the arrays that " + kIndex +
                 " says but they differ in " + listed(odd) +
                 "; the checkpoint is damaged");
      return false;
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

bool countSteps(const std::string &folder, const Checkpoint &loaded,
                int64_t &out_steps) {
  out_steps = 0;
  auto note = loaded.notes.find(kStep);
  if (note == loaded.notes.end() || (parseNumber(note->second, out_steps) &&
                                     out_steps >= 0 && out_steps <= kMostSteps))
    return true;
  printError((fs::path(folder) / kIndex).string() +
             ": expected a \"step\" from 0 to " + std::to_string(kMostSteps) +
             ", from which --save goes on, but got " + excerpt(note->second) +
             "; write the number there, or leave \"step\" out of the metadata");
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
  return !failed(sprt_file_check((fs::path(folder) / kIndex).c_str())) &&
         !failed(sprt_file_check(draftOfIndex(folder).c_str()));
}

bool saveState(const std::string &folder, const std::vector<StateArray> &state,
               const std::vector<sprt_array> &results, const Checkpoint &from,
               int64_t steps) {
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
  Json notes = {{kSize, total}, {kStep, std::to_string(steps)}};
  for (const auto &[name, text] : from.notes)
    if (name != kStep)
      notes[name] = text;
  Json index = {{"metadata", notes}, {"weight_map", places}};
  if (!replaceIndex(folder,
                    index.dump(2, ' ', false, Json::error_handler_t::replace) +
                        "\n"))
    return false;
  removeOthers(folder, files);
  return true;
}
