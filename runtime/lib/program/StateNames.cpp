#include "program/StateNames.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sprt {

namespace {

constexpr char kReserved[] = "__metadata__";

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
        text[at] == '\'' || text[at] == '"' ? quoted() : printed();
    if (!key || at >= text.size() || text[at] != ']')
      return std::nullopt;
    ++at;
    return key;
  }

  /// What Python prints of a key that is no string, such as "3" and "(1, 2)";
  /// "3" of "<flat index 3>", of a tree that names none.
  std::optional<std::string> printed() {
    size_t begin = at;
    for (int depth = 0; at < text.size(); ++at) {
      char c = text[at];
      if (c == '\'' || c == '"') {
        if (!skipQuoted())
          return std::nullopt;
        continue;
      }
      if (c == ']' && depth == 0)
        break;
      depth += (c == '[' || c == '(' || c == '{') -
               (c == ']' || c == ')' || c == '}');
    }
    std::string key = text.substr(begin, at - begin);
    const std::string flat = "<flat index ";
    if (key.compare(0, flat.size(), flat) == 0 && key.back() == '>')
      key = key.substr(flat.size(), key.size() - flat.size() - 1);
    return key.empty() ? std::nullopt : std::optional(key);
  }

  /// Goes from one quote to the other.
  bool skipQuoted() {
    char quote = text[at++];
    while (at < text.size() && text[at] != quote)
      at += text[at] == '\\' ? 2 : 1;
    return at < text.size();
  }

  /// A string as Python's repr writes it.
  std::optional<std::string> quoted() {
    size_t begin = at + 1;
    if (!skipQuoted())
      return std::nullopt;
    std::string_view rest = std::string_view(text).substr(begin, at - begin);
    ++at;
    std::string key;
    while (!rest.empty())
      if (!readCharacter(rest, key))
        return std::nullopt;
    return key;
  }

  /// One character, or what stands for it behind a backslash.
  static bool readCharacter(std::string_view &rest, std::string &key) {
    if (rest[0] != '\\') {
      key += rest[0];
      rest.remove_prefix(1);
      return true;
    }
    char kind = rest.size() > 1 ? rest[1] : ' ';
    rest.remove_prefix(std::min<size_t>(rest.size(), 2));
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      constexpr std::string_view kinds = "ntr\\'\"", meant = "\n\t\r\\'\"";
      size_t which = kinds.find(kind);
      key += which < kinds.size() ? meant[which] : '\0';
      return which < kinds.size();
    }
    if (rest.size() < digits)
      return false;
    uint32_t code = 0;
    const char *end = rest.begin() + digits;
    if (std::from_chars(rest.begin(), end, code, 16).ptr != end)
      return false;
    rest.remove_prefix(digits);
    return addUtf8(code, key);
  }

  /// False for what no name can have: the end of C's strings, and halves of
  /// characters.
  static bool addUtf8(uint32_t code, std::string &key) {
    if (code == 0 || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
      return false;
    if (code < 0x80) {
      key += static_cast<char>(code);
      return true;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
    key += static_cast<char>(kFirst[more] | code >> 6 * more);
    while (more-- > 0)
      key += static_cast<char>(0x80 | (code >> 6 * more & 0x3F));
    return true;
  }

  const std::string &text;
  size_t at = 0;
};

/// Whether a file's header, and C, can have it as a name.
bool isText(const std::string &name) {
  using Json = nlohmann::json;
  std::string written =
      Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
  return name.find('\0') == std::string::npos &&
         Json::parse(written) == Json(name);
}

bool areAllOthers(const std::vector<std::string> &names) {
  std::set<std::string> seen = {kReserved};
  return std::all_of(names.begin(), names.end(), [&](const std::string &name) {
    return seen.insert(name).second;
  });
}

} // namespace

std::vector<std::string> nameState(const std::vector<StateInput> &inputs) {
  std::vector<std::string> numbers, whole;
  std::vector<Path> paths;
  bool isOne = true;
  for (const StateInput &input : inputs) {
    numbers.push_back("arg" + std::to_string(input.number));
    bool isNamed = !input.name.empty() && isText(input.name);
    whole.push_back(isNamed ? input.name : numbers.back());
    paths.push_back(
        PathReader(whole.back()).read().value_or(Path{whole.back(), ""}));
    isOne &= paths.back().root == paths.front().root;
  }
  std::map<std::string, int> counts = {{kReserved, 1}};
  std::vector<std::string> names;
  for (const Path &path : paths) {
    names.push_back(path.rest.empty() ? path.root
                    : isOne           ? path.rest
                                      : path.root + "." + path.rest);
    ++counts[names.back()];
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (counts[names[i]] > 1)
      names[i] = whole[i];
  // A key may be spelled as the whole name of another.
  return areAllOthers(names) ? names : areAllOthers(whole) ? whole : numbers;
}

} // namespace sprt
