#include "sprt/algebra/Layout.h"

#include <charconv>

namespace sprt::algebra {

const char *name(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::contiguous:
    return "contiguous";
  case LayoutKind::zigzag:
    return "zigzag";
  case LayoutKind::striped:
    return "striped";
  case LayoutKind::batch:
    return "batch";
  }
  return "unknown";
}

std::optional<LayoutKind> parseLayoutKind(std::string_view text) {
  for (LayoutKind kind : {LayoutKind::contiguous, LayoutKind::zigzag,
                          LayoutKind::striped, LayoutKind::batch})
    if (text == name(kind))
      return kind;
  return std::nullopt;
}

std::string Layout::str() const {
  std::string text = std::string(name(dealt)) + "(" + std::to_string(positions);
  if (whole != positions)
    text += " within " + std::to_string(whole);
  text += " over " + std::to_string(owners);
  if (parts != 1)
    text += "x" + std::to_string(parts);
  if (cut.count != 1)
    text +=
        " in " + std::to_string(cut.count) + (cut.apart ? " turns" : " blocks");
  if (dealt == LayoutKind::batch)
    text += " holding " + std::to_string(capacity);
  return text + ")";
}

/// Takes `prefix` from the front of `text`.
static bool consume(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

static bool consume(std::string_view &text, int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return false;
  text.remove_prefix(size_t(end - text.data()));
  return true;
}

std::optional<Layout> Layout::parse(std::string_view text) {
  size_t paren = text.find('(');
  if (paren == std::string_view::npos)
    return std::nullopt;
  std::optional<LayoutKind> kind = parseLayoutKind(text.substr(0, paren));
  text.remove_prefix(paren + 1);
  int64_t length = 0, within = 0, ring = 1, split = 1;
  if (!kind || !consume(text, length) ||
      (consume(text, " within ") && !consume(text, within)) ||
      !consume(text, " over ") || !consume(text, ring))
    return std::nullopt;
  if (consume(text, "x") && !consume(text, split))
    return std::nullopt;
  LayoutBlocks blocks;
  if (consume(text, " in ")) {
    if (!consume(text, blocks.count) || blocks.count == 1)
      return std::nullopt;
    blocks.apart = consume(text, " turns");
    if (!blocks.apart && !consume(text, " blocks"))
      return std::nullopt;
  }
  int64_t holds = 0;
  if (consume(text, " holding ") && !consume(text, holds))
    return std::nullopt;
  if (text != ")" ||
      !check(*kind, length, ring, split, within, blocks, holds).empty())
    return std::nullopt;
  return Layout(*kind, length, ring, split, within, blocks, holds);
}

} // namespace sprt::algebra
