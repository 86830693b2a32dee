//===- sp-try-models.cpp - Tries the models of folders --------------------===//
//
//   sp-try-models FILE-OR-FOLDER...
//
//===----------------------------------------------------------------------===//

#include "ModelTrial.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>
#include <vector>

using namespace mlir::sp;
namespace fs = std::filesystem;

static std::vector<std::string> listFiles(int count, char **paths) {
  std::vector<std::string> files;
  for (const fs::path path : llvm::ArrayRef(paths, count)) {
    if (!fs::is_directory(path)) {
      files.push_back(path.string());
      continue;
    }
    for (const fs::directory_entry &entry : fs::directory_iterator(path))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::vector<std::string> files = listFiles(argc - 1, argv + 1);
  int defects = 0, imported = 0;
  for (const std::string &file : files) {
    auto text = llvm::MemoryBuffer::getFile(file);
    if (!text) {
      llvm::errs() << file << ": " << text.getError().message() << "\n";
      return 2;
    }
    // Said before, so that a crash has a name.
    llvm::errs() << file << "\n";
    ModelTrial trial = tryModel((*text)->getBuffer());
    imported += trial.outcome == Outcome::Imported;
    if (trial.defect.empty())
      continue;
    ++defects;
    llvm::errs() << file << ": " << trial.defect << "\n";
  }
  llvm::outs() << files.size() << " models, " << imported << " imported, "
               << defects << " defects\n";
  return defects == 0 && !files.empty() ? 0 : 1;
}
