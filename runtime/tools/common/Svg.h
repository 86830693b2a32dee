/// Pictures of the tools: shapes and text of one SVG without scripts, dark on
/// white.
#ifndef SPRT_TOOLS_COMMON_SVG_H
#define SPRT_TOOLS_COMMON_SVG_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sprt::tools {

/// A point in pixels, from the top left corner.
struct Point {
  double x, y;
};

struct TextStyle {
  double size = 12;
  const char *anchor = "start"; ///< "start", "middle" or "end" is at the point
  bool isBold = false;
  bool isUpward = false; ///< turned, to be read from below
  const char *colour = "#222";
};

/// What a shape stands for: `data-NAME` for programs, and what is shown for the
/// shape under the pointer.
struct Meaning {
  std::vector<std::pair<const char *, std::string>> facts;
  std::string tip;
};

/// The picture grows with what is drawn.
class Svg {
public:
  void rectangle(double x, double y, double width, double height,
                 const std::string &fill, const Meaning &meaning = {});
  /// Rectangles of one height and colour in a row: many, in a small file.
  void bars(const std::vector<std::pair<double, double>> &fromTo, double y,
            double height, const std::string &fill,
            const Meaning &meaning = {});
  void polygon(const std::vector<Point> &points, const std::string &fill,
               const Meaning &meaning = {});
  /// `dash` as SVG has it: "5 4".
  void line(Point from, Point to, const char *colour = "#444",
            const char *dash = "");
  /// An empty one around what is drawn.
  void frame(double x, double y, double width, double height);
  void text(Point at, const std::string &text, const TextStyle &style = {});
  /// A square of a colour and what it means; returns where the next one may
  /// begin.
  double legend(Point at, const std::string &fill, const std::string &text);
  /// What is drawn until `endGroup` is of one thing, which the meaning names.
  void beginGroup(const char *kind, const Meaning &meaning = {});
  void endGroup() { body += "</g>\n"; }

  /// The whole file, which programs that read out pictures call `title`.
  std::string str(const std::string &title) const;

private:
  void open(const char *element, const Meaning &meaning);
  void close(const char *element, const Meaning &meaning);
  void reach(double x, double y);

  std::string body;
  double width = 0, height = 0;
};

/// A colour by hue in degrees; saturation and lightness between 0 and 1.
std::string colourOf(double hue, double saturation, double lightness);

/// One of `count` that are to be told apart; of many, neighbours look alike.
std::string colourOf(int64_t number, int64_t count, double lightness);

/// Round numbers from 0 to `most`: three to eight of them.
std::vector<double> ticks(double most);

/// At most `most` characters, with an ellipsis in the middle of what is longer.
std::string shortened(const std::string &text, size_t most);

/// How wide a text is about, as sans serif fonts are.
double widthOf(const std::string &text, double size);

} // namespace sprt::tools

#endif // SPRT_TOOLS_COMMON_SVG_H
