//===- SourceLines.cpp - Where an operation was written -------------------===//

#include "sp/IR/SourceLines.h"

using namespace mlir;
using namespace mlir::sp;

static bool isOfPackage(FileLineColLoc line) {
  StringRef file = line.getFilename().getValue();
  return file.contains("/site-packages/") || file.contains("/dist-packages/") ||
         file.contains("/spmlir/");
}

FileLineColLoc mlir::sp::sourceLineOf(Location location) {
  FileLineColLoc innermost, users;
  // From the callee to its callers.
  location->walk([&](Location inner) {
    auto line = dyn_cast<FileLineColLoc>(inner);
    if (!line)
      return WalkResult::advance();
    if (!innermost)
      innermost = line;
    if (isOfPackage(line))
      return WalkResult::advance();
    users = line;
    return WalkResult::interrupt();
  });
  return users ? users : innermost;
}

std::string mlir::sp::describeSourceLine(Location location) {
  FileLineColLoc line = sourceLineOf(location);
  return line ? (line.getFilename().getValue() + ":" + Twine(line.getLine()))
                    .str()
              : "";
}
