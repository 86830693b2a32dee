//===- Printing.cpp - Tensors as text -------------------------------------===//
#include "Printing.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;

/// Values printed before the rest is left out.
static constexpr int64_t kPrinted = 100;

/// With the fewest digits that give the value back; a narrow value is printed
/// as the f32 it is.
static void printFloat(llvm::raw_ostream &stream, double value, bool isNarrow) {
  char text[40];
  std::to_chars_result end =
      isNarrow ? std::to_chars(text, text + sizeof(text), float(value))
               : std::to_chars(text, text + sizeof(text), value);
  stream << (std::isnan(value) ? "nan" : StringRef(text, end.ptr - text));
}

static void printElement(llvm::raw_ostream &stream, const Tensor &tensor,
                         int64_t i) {
  Type element = tensor.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  bool isNarrow = isa<FloatType>(element) && !element.isF64();
  switch (tensor.getStorage()) {
  case Storage::Bool:
    stream << (tensor.at<uint8_t>(i) ? "true" : "false");
    return;
  case Storage::Signed:
    stream << tensor.at<int64_t>(i);
    return;
  case Storage::Unsigned:
    stream << tensor.at<uint64_t>(i);
    return;
  case Storage::Float:
    printFloat(stream, tensor.at<double>(i), isNarrow);
    return;
  case Storage::Complex: {
    auto value = tensor.at<std::complex<double>>(i);
    stream << "(";
    printFloat(stream, value.real(), isNarrow);
    stream << ", ";
    printFloat(stream, value.imag(), isNarrow);
    stream << ")";
    return;
  }
  }
}

void interpreter::printTensor(llvm::raw_ostream &stream, const Tensor &tensor) {
  stream << tensor.getType() << " [";
  int64_t shown = std::min(tensor.size(), kPrinted);
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0)
      stream << ", ";
    printElement(stream, tensor, i);
  }
  if (shown < tensor.size())
    stream << ", ... " << tensor.size() - shown << " more";
  stream << "]\n";
}
