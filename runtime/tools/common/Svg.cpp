#include "Svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace sprt::tools {
namespace {

/// Two decimals at most, and no zeros behind them.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string digits = text;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.')
    digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

/// How many bytes the UTF-8 character at `at` has; 0 where there is none that
/// XML takes.
size_t characterAt(const std::string &text, size_t at) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  unsigned lead = byte(at);
  if (lead < 0x80)
    return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  unsigned code = lead & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isCharacter = lead >= 0xc2 && lead <= 0xf4 && code >= kLeast[size] &&
                     code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) &&
                     (code & 0xfffe) != 0xfffe;
  return isCharacter ? size : 0;
}

/// As XML takes it: names are the model's and may hold any bytes.
std::string escaped(const std::string &text) {
  std::string safe;
  for (size_t at = 0; at < text.size();) {
    size_t size = characterAt(text, at);
    char letter = text[at];
    if (size == 0)
      safe += "\xef\xbf\xbd";
    else if (letter == '&')
      safe += "&amp;";
    else if (letter == '<')
      safe += "&lt;";
    else if (letter == '>')
      safe += "&gt;";
    else if (letter == '"')
      safe += "&quot;";
    else
      safe += text.substr(at, size);
    at += std::max<size_t>(size, 1);
  }
  return safe;
}

std::string attribute(const char *name, const std::string &value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}

} // namespace

void Svg::reach(double x, double y) {
  width = std::max(width, x);
  height = std::max(height, y);
}

void Svg::open(const char *element, const Meaning &meaning) {
  body += std::string("<") + element;
  for (const auto &[name, value] : meaning.facts)
    body += attribute((std::string("data-") + name).c_str(), escaped(value));
}

void Svg::close(const char *element, const Meaning &meaning) {
  body += meaning.tip.empty() ? "/>\n"
                              : "><title>" + escaped(meaning.tip) +
                                    "</title></" + element + ">\n";
}

void Svg::rectangle(double x, double y, double wide, double high,
                    const std::string &fill, const Meaning &meaning) {
  reach(x + wide, y + high);
  open("rect", meaning);
  body += attribute("x", number(x)) + attribute("y", number(y)) +
          attribute("width", number(wide)) + attribute("height", number(high)) +
          attribute("fill", fill);
  close("rect", meaning);
}

void Svg::frame(double x, double y, double wide, double high) {
  reach(x + wide, y + high);
  open("rect", {});
  body += attribute("x", number(x)) + attribute("y", number(y)) +
          attribute("width", number(wide)) + attribute("height", number(high)) +
          attribute("fill", "none") + attribute("stroke", "#444");
  close("rect", {});
}

void Svg::bars(const std::vector<std::pair<double, double>> &fromTo, double y,
               double high, const std::string &fill, const Meaning &meaning) {
  std::string moves;
  for (auto [from, to] : fromTo) {
    reach(to, y + high);
    moves += "M" + number(from) + " " + number(y + high / 2) + "H" + number(to);
  }
  open("path", meaning);
  body += attribute("d", moves) + attribute("stroke", fill) +
          attribute("stroke-width", number(high));
  close("path", meaning);
}

void Svg::polygon(const std::vector<Point> &points, const std::string &fill,
                  const Meaning &meaning) {
  std::string list;
  for (const Point &point : points) {
    reach(point.x, point.y);
    list += (list.empty() ? "" : " ") + number(point.x) + "," + number(point.y);
  }
  open("polygon", meaning);
  body += attribute("points", list) + attribute("fill", fill);
  close("polygon", meaning);
}

void Svg::line(Point from, Point to, const char *colour, const char *dash) {
  reach(std::max(from.x, to.x), std::max(from.y, to.y));
  body += "<line" + attribute("x1", number(from.x)) +
          attribute("y1", number(from.y)) + attribute("x2", number(to.x)) +
          attribute("y2", number(to.y)) + attribute("stroke", colour);
  if (*dash)
    body += attribute("stroke-dasharray", dash);
  body += "/>\n";
}

void Svg::text(Point at, const std::string &text, const TextStyle &style) {
  double wide = widthOf(text, style.size);
  std::string anchor = style.anchor;
  if (!style.isUpward)
    reach(at.x + (anchor == "end"      ? 0
                  : anchor == "middle" ? wide / 2
                                       : wide),
          at.y + style.size / 2);
  body += "<text" + attribute("fill", style.colour);
  body += style.isUpward
              ? attribute("transform", "translate(" + number(at.x) + " " +
                                           number(at.y) + ") rotate(-90)")
              : attribute("x", number(at.x)) + attribute("y", number(at.y));
  if (style.size != 12)
    body += attribute("font-size", number(style.size));
  if (anchor != "start")
    body += attribute("text-anchor", anchor);
  if (style.isBold)
    body += attribute("font-weight", "bold");
  body += ">" + escaped(text) + "</text>\n";
}

double Svg::legend(Point at, const std::string &fill, const std::string &name) {
  rectangle(at.x, at.y, 12, 12, fill);
  text({at.x + 17, at.y + 10.5}, name);
  return at.x + 17 + widthOf(name, 12) + 16;
}

void Svg::beginGroup(const char *kind, const Meaning &meaning) {
  open("g", meaning);
  body += attribute("class", kind) + ">\n";
  if (!meaning.tip.empty())
    body += "<title>" + escaped(meaning.tip) + "</title>\n";
}

std::string Svg::str(const std::string &title) const {
  constexpr double kMargin = 16;
  std::string w = number(std::ceil(width + kMargin)),
              h = number(std::ceil(height + kMargin));
  std::string size = attribute("width", w) + attribute("height", h);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size +
         attribute("viewBox", "0 0 " + w + " " + h) +
         attribute("font-family", "Helvetica, Arial, sans-serif") +
         attribute("font-size", "12") + ">\n<title>" + escaped(title) +
         "</title>\n<rect" + size + attribute("fill", "white") + "/>\n" + body +
         "</svg>\n";
}

std::string colourOf(double hue, double saturation, double lightness) {
  std::string text = "#";
  double spread = saturation * std::min(lightness, 1 - lightness);
  for (double shift : {0.0, 8.0, 4.0}) {
    double k = std::fmod(shift + hue / 30, 12);
    double part =
        lightness - spread * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned>(std::lround(255 * part)));
    text += digits;
  }
  return text;
}

std::string colourOf(int64_t number, int64_t count, double lightness) {
  // Far apart for eyes, which tell more kinds of warm colours than of greens.
  constexpr double kHues[] = {210, 28, 150, 335, 52, 268, 188, 5, 95, 300};
  constexpr int64_t kFew = std::size(kHues);
  double hue = count <= kFew
                   ? kHues[number % kFew]
                   : std::fmod(210 + 360.0 * static_cast<double>(number) /
                                         static_cast<double>(count),
                               360);
  return colourOf(hue, 0.6, lightness);
}

std::vector<double> ticks(double most) {
  if (!(most > 0) || !std::isfinite(most))
    return {0};
  double step = std::pow(10.0, std::floor(std::log10(most)));
  for (double part : {1.0, 0.5, 0.2})
    if (most / (step * part) >= 3) {
      step *= part;
      break;
    }
  std::vector<double> all;
  for (int i = 0; i * step <= most * (1 + 1e-9); ++i)
    all.push_back(i * step);
  return all;
}

std::string shortened(const std::string &text, size_t most) {
  if (text.size() <= most || most < 5)
    return text;
  size_t head = (most - 3) / 2;
  return text.substr(0, head) + "..." +
         text.substr(text.size() - (most - 3 - head));
}

double widthOf(const std::string &text, double size) {
  return 0.56 * size * static_cast<double>(text.size());
}

} // namespace sprt::tools
