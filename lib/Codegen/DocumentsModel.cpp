//===- DocumentsModel.cpp - A program that numbers documents --------------===//
//
//   sp.documents @a of 64 in arguments [4] {    func.func @main(%x, %y) {
//   ^bb0(%x): ... sp.yield %0 }                   ... %0 ... %1
//   sp.documents @b of 64 in arguments [4, 7]     return %0, %1
//   { ^bb0(%x, %y): ... sp.yield %1 }           }
//
//===----------------------------------------------------------------------===//

#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sp;

OwningOpRef<ModuleOp>
mlir::sp::documentsModel(ModuleOp module, std::vector<unsigned> &out_inputs) {
  llvm::MapVector<unsigned, Type> inputs;
  SmallVector<Type> results;
  SmallVector<DocumentsOp> bodies;
  for (auto documents : module.getOps<DocumentsOp>()) {
    if (!documents.isComputed())
      continue;
    bodies.push_back(documents);
    results.push_back(documents.getNumbers().getType());
    for (auto [number, argument] :
         llvm::zip_equal(documents.getArguments(),
                         documents.getBody().front().getArguments()))
      inputs.try_emplace(number, argument.getType());
  }
  if (bodies.empty())
    return nullptr;
  OpBuilder builder(module.getContext());
  OwningOpRef<ModuleOp> model =
      ModuleOp::create(module.getLoc(), StringRef("documents"));
  builder.setInsertionPointToEnd(model->getBody());
  SmallVector<Type> types;
  for (auto [number, type] : inputs) {
    out_inputs.push_back(number);
    types.push_back(type);
  }
  auto main = func::FuncOp::create(builder, module.getLoc(), "main",
                                   builder.getFunctionType(types, results));
  Block *entry = main.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  SmallVector<Value> numbers;
  for (DocumentsOp documents : bodies) {
    IRMapping mapping;
    Block &body = documents.getBody().front();
    for (auto [number, argument] :
         llvm::zip_equal(documents.getArguments(), body.getArguments()))
      mapping.map(argument, entry->getArgument(llvm::find(out_inputs, number) -
                                               out_inputs.begin()));
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    numbers.push_back(mapping.lookup(documents.getNumbers()));
  }
  func::ReturnOp::create(builder, module.getLoc(), numbers);
  return model;
}
