//===- AttentionSquare.cpp - Queries by keys ------------------------------===//
//
// A pair of a query and a key that it sees has the colour of the rank that
// computes it, darker the later it does. Queries go down, keys to the right:
//
//     0 . . . . . . .     causal on a zigzag ring of 2: rank 0 has the first
//     1 0 . . . . . .     and the last quarter of the positions
//     ...
//
//===----------------------------------------------------------------------===//

#include "AttentionSquare.h"

using namespace mlir;
using namespace mlir::sp;
namespace algebra = sprt::algebra;
using sprt::tools::Point;
using sprt::tools::Svg;

namespace {

/// One square, of one part of the heads.
class Square {
public:
  static constexpr size_t kMostPieces = 1200; ///< else it is sampled
  static constexpr int64_t kSamples = 64;     ///< along each side

  Square(const AttentionSteps &steps, int64_t member, Point corner, double side,
         Svg &svg)
      : steps(steps), member(member), corner(corner), side(side), svg(svg),
        shownQueries(steps.queryLength()), shownKeys(steps.keyLength()) {
    // Stripes are seen where each pair is.
    if (!steps.isStriped())
      return;
    shownQueries = std::min(shownQueries, kSamples);
    shownKeys = std::min(shownKeys, kSamples);
  }

  void draw() {
    svg.rectangle(corner.x, corner.y, side, side, kHidden);
    if (std::optional<std::vector<AttentionPiece>> pieces =
            steps.pieces(kMostPieces))
      for (const AttentionPiece &piece : *pieces)
        drawPiece(piece);
    else
      drawSamples();
    svg.frame(corner.x, corner.y, side, side);
    drawAxes();
  }

private:
  static constexpr const char *kHidden = "#f1f1f1";

  double x(double key) const {
    return corner.x + key * side / double(shownKeys);
  }
  double y(double query) const {
    return corner.y + query * side / double(shownQueries);
  }
  int64_t rankOf(int64_t owner) const {
    return owner * steps.members() + member;
  }
  std::string fill(int64_t owner, int64_t step) const {
    return colourOfStep(steps, rankOf(owner), step);
  }

  void drawPiece(const AttentionPiece &piece) {
    const algebra::Band &band = piece.band;
    std::vector<Point> corners = outline(band);
    std::string pairs = algebra::toString(area(band));
    std::string rank = std::to_string(rankOf(piece.owner)),
                step = std::to_string(piece.step);
    auto range = [](int64_t begin, int64_t end) {
      return std::to_string(begin) + " to " + std::to_string(end - 1);
    };
    svg.polygon(corners, fill(piece.owner, piece.step),
                {{{"rank", rank}, {"step", step}, {"pairs", pairs}},
                 "rank " + rank + ", step " + step + ": queries " +
                     range(band.q0, band.q1) + ", keys " +
                     range(band.k0, band.k1) + ", " + pairs + " pairs"});
    if (steps.steps() > 1)
      label(corners, step);
  }

  /// The rectangle between the band's two lines, which pass half a position
  /// outside the last pairs: so its area is that of as many pairs.
  std::vector<Point> outline(const algebra::Band &band) const {
    std::vector<Point> corners = {{double(band.k0), double(band.q0)},
                                  {double(band.k1), double(band.q0)},
                                  {double(band.k1), double(band.q1)},
                                  {double(band.k0), double(band.q1)}};
    if (band.hi != algebra::unboundedAbove)
      corners = clip(corners, 1, double(band.hi) + 0.5);
    if (band.lo != algebra::unboundedBelow)
      corners = clip(corners, -1, 0.5 - double(band.lo));
    for (Point &point : corners)
      point = {x(point.x), y(point.y)};
    return corners;
  }

  /// What of a polygon has sign * (key - query) <= most.
  static std::vector<Point> clip(const std::vector<Point> &corners, double sign,
                                 double most) {
    std::vector<Point> kept;
    auto beyond = [&](Point at) { return sign * (at.x - at.y) - most; };
    for (size_t i = 0; i < corners.size(); ++i) {
      Point a = corners[i], b = corners[(i + 1) % corners.size()];
      double ofA = beyond(a), ofB = beyond(b);
      if (ofA <= 0)
        kept.push_back(a);
      if ((ofA < 0 && ofB > 0) || (ofA > 0 && ofB < 0)) {
        double part = ofA / (ofA - ofB);
        kept.push_back({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)});
      }
    }
    return kept;
  }

  /// The step, where it can be read.
  void label(const std::vector<Point> &corners, const std::string &step) {
    Point low = corners.front(), high = low, middle = {0, 0};
    for (Point point : corners) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
      middle = {middle.x + point.x / double(corners.size()),
                middle.y + point.y / double(corners.size())};
    }
    double room = std::min(high.x - low.x, high.y - low.y);
    double size = std::min(13.0, room * 0.55);
    if (size >= 6 && sprt::tools::widthOf(step, size) < room * 0.9)
      svg.text({middle.x, middle.y + size * 0.35}, step, {size, "middle"});
  }

  void drawSamples() {
    int64_t rows = std::min(shownQueries, kSamples),
            columns = std::min(shownKeys, kSamples);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t query = (2 * row + 1) * shownQueries / (2 * rows);
      auto placeAt = [&](int64_t column) {
        return steps.at(query, (2 * column + 1) * shownKeys / (2 * columns));
      };
      for (int64_t first = 0, next = 0; first < columns; first = next) {
        std::optional<AttentionSteps::Place> place = placeAt(first);
        for (next = first + 1; next < columns && placeAt(next) == place;)
          ++next;
        if (!place)
          continue;
        double wide = side / double(columns), high = side / double(rows);
        svg.rectangle(
            corner.x + double(first) * wide, corner.y + double(row) * high,
            double(next - first) * wide, high, fill(place->owner, place->step),
            {{{"rank", std::to_string(rankOf(place->owner))},
              {"step", std::to_string(place->step)}},
             ""});
      }
    }
  }

  void drawAxes() {
    for (double key : sprt::tools::ticks(double(shownKeys))) {
      svg.line({x(key), corner.y - 4}, {x(key), corner.y});
      svg.text({x(key), corner.y - 7}, std::to_string(int64_t(key)),
               {10, "middle"});
    }
    for (double query : sprt::tools::ticks(double(shownQueries))) {
      svg.line({corner.x - 4, y(query)}, {corner.x, y(query)});
      svg.text({corner.x - 7, y(query) + 3.5}, std::to_string(int64_t(query)),
               {10, "end"});
    }
    svg.text({corner.x + side / 2, corner.y - 21}, "keys", {11, "middle"});
    svg.text({corner.x - 62, corner.y + side / 2}, "queries",
             {11, "middle", false, true});
  }

  const AttentionSteps &steps;
  int64_t member;
  Point corner;
  double side;
  Svg &svg;
  int64_t shownQueries, shownKeys;
};

} // namespace

std::string mlir::sp::colourOfStep(const AttentionSteps &steps, int64_t rank,
                                   int64_t step) {
  constexpr double kLightest = 0.84, kDarkest = 0.5;
  double part = double(step) / double(std::max<int64_t>(steps.steps() - 1, 1));
  return sprt::tools::colourOf(rank, steps.owners() * steps.members(),
                               kLightest + (kDarkest - kLightest) * part);
}

void mlir::sp::drawSquare(const AttentionSteps &steps, int64_t member,
                          Point corner, double side, Svg &svg) {
  Square(steps, member, corner, side, svg).draw();
}

std::string mlir::sp::describeSamples(const AttentionSteps &steps) {
  auto most = [](int64_t length) {
    return std::to_string(std::min(length, Square::kSamples));
  };
  std::string queries = most(steps.queryLength()),
              keys = most(steps.keyLength());
  if (steps.isStriped())
    return "striped: the first " + queries + " queries and " + keys +
           " keys are drawn, pair by pair";
  if (!steps.pieces(Square::kMostPieces))
    return "sampled at " + queries + " x " + keys +
           " pairs, as there are too many blocks";
  return "";
}
