//===- NamedParts.cpp - Parts of axes that go together --------------------===//

#include "Sharding/NamedParts.h"

#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sp;

SmallVector<std::string> NamedParts::besides(AxisAttr part) {
  AxisAttr whole = AxisAttr::get(mesh.getContext(), part.getName());
  int64_t end = part.getAbove() * part.getSize(),
          ranks = mesh.getAxisSize(whole);
  SmallVector<std::string> texts;
  auto add = [&](int64_t above, int64_t size) {
    if (size > 1)
      texts.push_back("\"" +
                      AxisAttr::getFactor(whole, ranks, above, size).getText() +
                      "\"");
  };
  add(1, part.getAbove());
  add(end, ranks / end);
  return texts;
}

LogicalResult NamedParts::add(AxisAttr axis,
                              function_ref<InFlightDiagnostic()> emitError) {
  auto other =
      llvm::find_if(parts, [&](AxisAttr part) { return !part.goesWith(axis); });
  if (other == parts.end()) {
    parts.push_back(axis);
    return success();
  }
  SmallVector<std::string> texts = besides(*other);
  return emitError() << "expected parts of axis \"" << axis.getName()
                     << "\" that begin and end at divisors of one another but "
                        "got \""
                     << axis.getText() << "\" beside \"" << other->getText()
                     << "\"; with the latter "
                     << (texts.size() > 1 ? "go " : "goes ")
                     << llvm::join(texts, " and ");
}

void NamedParts::note(DictionaryAttr attributes) {
  if (!attributes)
    return;
  attributes.walk([&](Attribute attribute) {
    if (auto axis = dyn_cast<AxisAttr>(attribute))
      parts.push_back(axis);
    if (auto axis = dyn_cast<sdy::AxisRefAttr>(attribute))
      if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo())
        parts.push_back(AxisAttr::get(mesh.getContext(), axis.getName(),
                                      part.getPreSize(), part.getSize()));
  });
  llvm::erase_if(parts, [&](AxisAttr part) { return !mesh.findFactor(part); });
}
