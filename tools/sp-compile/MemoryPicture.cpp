//===- MemoryPicture.cpp - What a rank's memory holds over a program ------===//
//
// Areas by kind of value, stacked, over the operations of the program. A column
// of pixels stands for several operations and shows the one at which most is
// in use, so that no peak is lost.
//
//===----------------------------------------------------------------------===//

#include "MemoryPicture.h"

#include "Units.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;
using sprt::tools::bytesText;
using sprt::tools::Point;
using sprt::tools::Svg;

namespace {

/// One space of a program.
class Panel {
public:
  Panel(func::FuncOp func, const LivePlaces &places, const MemoryKinds &kinds,
        const MemoryNeeds &needs, Space space, Svg &svg)
      : func(func), places(places), needs(needs), isNear(space == Space::Arena),
        svg(svg), inUse(places, kinds, space,
                        isNear ? needs.beside.stack() : MemoryStack{}),
        peak(inUse.peak()) {}

  double draw(double top) {
    int64_t live = sumOf(inUse.at(peak));
    int64_t needed = isNear ? needs.peakBytes : live;
    most = double(std::max<int64_t>({needed, live, 1}));
    bottom = top + 40 + kHeight;
    std::string title = isNear
                            ? "memory of rank " + std::to_string(needs.rank) +
                                  ", which needs most: " + bytesText(needed)
                            : "far memory of a rank: " + bytesText(needed);
    svg.text({16, top + 14}, title, {14, "start", true});
    std::vector<std::pair<const char *, std::string>> facts = {
        {"space", isNear ? "near" : "far"},
        {"live", std::to_string(live)},
        {"needed", std::to_string(needed)},
        {"height", std::to_string(int64_t(kHeight))}};
    svg.beginGroup("memory", {facts, ""});
    drawAreas();
    svg.endGroup();
    drawAxes();
    if (isNear)
      drawNames();
    double y = drawLegend(bottom + (isNear ? 64 : 40));
    return drawPeak(y);
  }

private:
  static constexpr int64_t kColumns = 380;
  static constexpr double kLeft = 90, kWidth = 760, kHeight = 300;
  static constexpr size_t kMostNamed = 12; ///< of what lives at the peak
  /// Pixels between two names of attentions.
  static constexpr double kBetweenNames = 14;

  double x(int64_t point) const {
    return kLeft + kWidth * double(point) / double(places.points());
  }
  double y(double bytes) const { return bottom - kHeight * bytes / most; }

  void drawAreas() {
    int64_t columns = std::min(kColumns, places.points());
    std::vector<int64_t> shown; // the fullest point of each column
    auto firstOf = [&](int64_t column) {
      return column * places.points() / columns;
    };
    for (int64_t column = 0; column < columns; ++column) {
      int64_t fullest = firstOf(column);
      for (int64_t i = fullest; i < firstOf(column + 1); ++i)
        if (sumOf(inUse.at(i)) > sumOf(inUse.at(fullest)))
          fullest = i;
      shown.push_back(fullest);
    }
    std::vector<double> below(columns, 0);
    for (size_t kind = 0; kind < kMemoryKinds; ++kind) {
      std::vector<Point> upper, lower;
      std::vector<double> above = below;
      int64_t largest = 0;
      for (int64_t column = 0; column < columns; ++column) {
        int64_t bytes = inUse.at(shown[column])[kind];
        largest = std::max(largest, bytes);
        above[column] += double(bytes);
        append(upper, x(firstOf(column)), x(firstOf(column + 1)),
               y(above[column]));
        append(lower, x(firstOf(column)), x(firstOf(column + 1)),
               y(below[column]));
      }
      below = above;
      if (largest == 0)
        continue;
      // What is too thin to be seen needs no explanation.
      if (double(largest) * kHeight >= most)
        usedKinds.push_back(MemoryKind(kind));
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      StringRef name = nameOf(MemoryKind(kind));
      svg.polygon(upper, colourOf(MemoryKind(kind)).str(),
                  {{{"kind", wordOf(MemoryKind(kind)).str()},
                    {"peak", std::to_string(inUse.at(peak)[kind])}},
                   name.str() + ": " + bytesText(inUse.at(peak)[kind]) +
                       " at the peak, " + bytesText(largest) + " at most"});
    }
  }

  /// A step of a line, without the corners that lie on it.
  static void append(std::vector<Point> &line, double from, double to,
                     double level) {
    size_t n = line.size();
    if (n >= 2 && line[n - 1].y == level && line[n - 2].y == level) {
      line[n - 1].x = to;
      return;
    }
    line.push_back({from, level});
    line.push_back({to, level});
  }

  /// "6 MiB" for "6.00 MiB".
  static std::string withoutZeros(const std::string &text) {
    auto [number, unit] = StringRef(text).split(' ');
    if (number.contains('.'))
      number = number.rtrim('0').rtrim('.');
    return (number + " " + unit).str();
  }

  void drawAxes() {
    svg.line({kLeft, bottom}, {kLeft + kWidth, bottom});
    svg.line({kLeft, bottom}, {kLeft, bottom - kHeight});
    double unit = 1;
    while (most / unit >= 1024)
      unit *= 1024;
    for (double value : sprt::tools::ticks(most / unit)) {
      svg.line({kLeft - 4, y(value * unit)}, {kLeft, y(value * unit)});
      svg.text({kLeft - 8, y(value * unit) + 4},
               withoutZeros(bytesText(value * unit)), {11, "end"});
    }
    if (isNear && needs.peakBytes > 0) {
      double level = y(double(needs.peakBytes));
      svg.line({kLeft, level}, {kLeft + kWidth, level}, "#c0392b", "5 4");
      svg.text({kLeft + kWidth, level - 5},
               "needed: " + bytesText(needs.peakBytes), {12, "end"});
    }
    double at = (x(peak) + x(peak + 1)) / 2,
           level = y(double(sumOf(inUse.at(peak))));
    svg.line({at, bottom}, {at, level}, "#222", "2 3");
    svg.text({at, level - 5}, "peak", {11, "middle", true});
  }

  /// Attentions under the axis, as many as there is room for.
  void drawNames() {
    double free = 0;
    func.walk([&](Operation *op) {
      StringRef name;
      bool isBackward = isa<AttendBackwardOp>(op);
      if (auto attend = dyn_cast<AttendOp>(op))
        name = attend.getName();
      if (auto attend = dyn_cast<AttendBackwardOp>(op))
        name = attend.getName();
      std::string text = (isBackward ? "d " : "") + name.str();
      if (name.empty() || text == named)
        return;
      double at = x(places.pointOf(op));
      if (at < free)
        return;
      named = text;
      free = at + kBetweenNames;
      svg.line({at, bottom}, {at, bottom + 4});
      svg.text({at + 4, bottom + 46}, sprt::tools::shortened(text, 10),
               {9, "start", false, true});
    });
    svg.text({kLeft + kWidth / 2, bottom + 60},
             "operations of the program in order, loops once; d: gradients of "
             "attention",
             {11, "middle"});
  }

  double drawLegend(double top) {
    double at = kLeft, y = top + 10;
    for (MemoryKind kind : llvm::reverse(usedKinds)) {
      if (at > kLeft + 560) {
        at = kLeft;
        y += 20;
      }
      at = svg.legend({at, y}, colourOf(kind).str(), nameOf(kind).str());
    }
    return y + 20;
  }

  double drawPeak(double top) {
    int64_t live = sumOf(inUse.at(peak));
    std::string text = "at the peak " + bytesText(live) + " are in use";
    if (isNear && needs.peakBytes > live)
      text += ", and " + bytesText(needs.peakBytes - live) +
              " lie unused between values that live at other times";
    if (isNear && live > needs.peakBytes)
      text += ", but the rank never touches " +
              bytesText(live - needs.peakBytes) +
              " of that, such as blocks that it does not get";
    double y = top + 16;
    svg.text({kLeft, y}, text + ":", {12, "start", true});
    std::vector<AlikePlaces> largest = inUse.atPeak();
    for (const AlikePlaces &alike : ArrayRef(largest).take_front(kMostNamed)) {
      svg.rectangle(kLeft, y + 8, 12, 12, colourOf(alike.kind).str());
      drawUsed(y += 18, alike.bytes,
               sprt::tools::shortened(alike.name, 90) +
                   (alike.count > 1
                        ? " and " + std::to_string(alike.count - 1) + " alike"
                        : ""));
    }
    int64_t others = 0;
    for (const AlikePlaces &alike :
         ArrayRef(largest).drop_front(std::min(kMostNamed, largest.size())))
      others += alike.bytes;
    if (others > 0)
      drawUsed(y += 18, others, "all others");
    return y + 16;
  }

  /// A row of the list of what is in use at the peak.
  void drawUsed(double y, int64_t bytes, const std::string &what) {
    svg.beginGroup("used", {{{"space", isNear ? "near" : "far"},
                             {"bytes", std::to_string(bytes)}},
                            ""});
    svg.text({kLeft + 96, y}, bytesText(bytes), {12, "end"});
    svg.text({kLeft + 108, y}, what);
    svg.endGroup();
  }

  func::FuncOp func;
  const LivePlaces &places;
  const MemoryNeeds &needs;
  bool isNear;
  Svg &svg;
  MemoryInUse inUse;
  int64_t peak;
  SmallVector<MemoryKind> usedKinds;
  std::string named;
  double bottom = 0, most = 1;
};

} // namespace

double mlir::sp::drawMemory(ModuleOp module, ArrayRef<NotedArgument> arguments,
                            const MemoryNeeds &needs, double top, Svg &svg) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  LivePlaces places(func);
  MemoryKinds kinds(func, places, arguments);
  top = Panel(func, places, kinds, needs, Space::Arena, svg).draw(top);
  bool hasFar = llvm::any_of(places.all(), [](const LivePlace &place) {
    return place.space == Space::Far;
  });
  if (hasFar)
    top = Panel(func, places, kinds, needs, Space::Far, svg).draw(top + 24);
  return top;
}
