// Names of what a training keeps, from the paths by which JAX calls arguments.

#include "Checkpoint.h"

#include <cctype>
#include <optional>

namespace {

struct Path {
  std::string root; ///< the argument
  std::string rest; ///< keys, indices and attributes, with dots between them
};

/// Reads "state['weights'][0].mu".
class PathReader {
public:
  explicit PathReader(const std::string &text) : text(text) {}

  /// Nothing for a text that is no path.
  std::optional<Path> read() {
    Path path;
    path.root = word();
    if (path.root.empty())
      return std::nullopt;
    while (at < text.size()) {
      std::optional<std::string> part = readPart();
      if (!part)
        return std::nullopt;
      path.rest += (path.rest.empty() ? "" : ".") + *part;
    }
    return path;
  }

private:
  std::string word() {
    size_t begin = at;
    // What is not ASCII is taken for letters of other scripts.
    auto isWord = [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c >= 0x80;
    };
    while (at < text.size() && isWord(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  }

  std::optional<std::string> readPart() {
    char first = text[at++];
    if (first == '.') {
      std::string name = word();
      return name.empty() ? std::nullopt : std::optional(name);
    }
    if (first != '[' || at == text.size())
      return std::nullopt;
    std::optional<std::string> key =
        text[at] == '\'' || text[at] == '"' ? quoted() : index();
    if (!key || at == text.size() || text[at++] != ']')
      return std::nullopt;
    return key;
  }

  /// "3", or "<flat index 3>" of a tree that names none.
  std::optional<std::string> index() {
    const std::string flat = "<flat index ";
    bool isFlat = text.compare(at, flat.size(), flat) == 0;
    at += isFlat ? flat.size() : 0;
    size_t sign = at < text.size() && text[at] == '-' ? 1 : 0;
    at += sign;
    std::string number = word();
    if (isFlat && (at == text.size() || text[at++] != '>'))
      return std::nullopt;
    return number.empty() ? std::nullopt
                          : std::optional(std::string(sign, '-') + number);
  }

  /// A string as Python's repr writes it.
  std::optional<std::string> quoted() {
    char quote = text[at++];
    std::string key;
    for (; at < text.size() && text[at] != quote; ++at) {
      if (text[at] != '\\') {
        key += text[at];
        continue;
      }
      if (++at == text.size())
        return std::nullopt;
      char next = text[at];
      key += next == 'n'   ? '\n'
             : next == 't' ? '\t'
             : next == 'r' ? '\r'
                           : next;
    }
    if (at == text.size())
      return std::nullopt;
    ++at;
    return key;
  }

  const std::string &text;
  size_t at = 0;
};

} // namespace

std::vector<StateArray> stateOf(const sprt_program *program,
                                const sprt_session *session) {
  std::vector<StateArray> state;
  std::vector<Path> paths;
  bool isOne = true;
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i) {
    int64_t result = sprt_session_fed_by(session, i);
    if (result < 0)
      continue;
    state.push_back({inputOf(program, i).name, i, result});
    if (state.back().name.empty())
      state.back().name = "arg" + std::to_string(i);
    paths.push_back(PathReader(state.back().name)
                        .read()
                        .value_or(Path{state.back().name, ""}));
    isOne &= paths.back().root == paths.front().root;
  }
  std::map<std::string, int> counts;
  for (Path &path : paths) {
    if (path.rest.empty())
      path.rest = path.root;
    else if (!isOne)
      path.rest = path.root + "." + path.rest;
    ++counts[path.rest];
  }
  for (size_t i = 0; i < state.size(); ++i)
    if (counts[paths[i].rest] == 1)
      state[i].name = paths[i].rest;
  return state;
}
