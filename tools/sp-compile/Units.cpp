//===- Units.cpp - Numbers for people -------------------------------------===//

#include "Units.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;

/// "3.5 MiB", "1.2 GFLOP": three digits of the largest unit that has one.
static std::string inUnit(double value, bool isOfBytes) {
  static constexpr const char *kBytes[] = {" B",   " KiB", " MiB",
                                           " GiB", " TiB", " PiB"};
  static constexpr const char *kFlops[] = {
      " FLOPs", " kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP", " EFLOP"};
  ArrayRef<const char *> units = isOfBytes ? ArrayRef(kBytes) : kFlops;
  double step = isOfBytes ? 1024 : 1000;
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  int digits = unit == 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, value);
  return text + units[unit];
}

std::string mlir::sp::bytesText(double bytes) { return inUnit(bytes, true); }

std::string mlir::sp::flopsText(double flops) { return inUnit(flops, false); }

std::string mlir::sp::inUnits(StringRef text) {
  static const llvm::Regex kCount(
      "(^|[^0-9A-Za-z_.-])([0-9]+)( to ([0-9]+))? (bytes|FLOPs)");
  std::string made;
  SmallVector<StringRef> found;
  while (kCount.match(text, &found)) {
    bool isOfBytes = found[5] == "bytes";
    auto unitOf = [&](StringRef digits) {
      int64_t number = 0;
      return digits.getAsInteger(10, number)
                 ? digits.str()
                 : inUnit(double(number), isOfBytes);
    };
    size_t begin = found[0].data() - text.data();
    made += text.take_front(begin).str() + found[1].str() + unitOf(found[2]);
    if (!found[4].empty())
      made += " to " + unitOf(found[4]);
    text = text.drop_front(begin + found[0].size());
  }
  return made + text.str();
}
