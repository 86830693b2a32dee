// What a kernel has memory for, and why an attempt ends.

#include "Fusion/KernelState.h"

#include "sp/IR/Attributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::sp {

int64_t KernelState::rowSize(Value value) const {
  return countOf(shapeOf(value)) / rowCount;
}

bool KernelState::isOverwritten(Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  return argument && argument.getOwner() == &source.getBody().front() &&
         source.getArgAttr(argument.getArgNumber(), kOnto);
}

void KernelState::fail(Outcome which, Location where, const Twine &text) {
  if (outcome == Outcome::Unsupported)
    return;
  outcome = which;
  reason = text.str();
  reasonLoc = where;
}

unsigned KernelState::addBuffer(Value value, bool isWritten, bool isTemporary) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value argument = body.getBody().front().addArgument(pointer, loc);
  buffers.push_back({argument, ElementForm(elementOf(value)),
                     SmallVector<int64_t>(shapeOf(value)), isWritten,
                     isTemporary});
  if (isTemporary)
    temporaries.push_back({rowSize(value) * buffers.back().form.bytes()});
  return buffers.size() - 1;
}

Value KernelState::addTemporary(Type element, int64_t count, bool isShared) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  temporaries.push_back({count * ElementForm(element).bytes(), isShared});
  return body.getBody().front().addArgument(pointer, loc);
}

} // namespace mlir::sp
