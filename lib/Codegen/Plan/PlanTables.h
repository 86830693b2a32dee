/// What commands of a plan name by number: layouts, factors of axes, kernels.
#ifndef SP_LIB_CODEGEN_PLANTABLES_H
#define SP_LIB_CODEGEN_PLANTABLES_H

#include "Plan/KernelInfo.h"

#include "sp/IR/SP.h"
#include "sprt/plan_generated.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::sp {

/// The plan's type of an element.
sprt::plan::DType dtypeOf(Type element);

/// The bands of a mask.
std::vector<sprt::plan::Band> bandList(ArrayAttr bands);

/// Tables of a plan that grow by what is asked for.
class PlanTables {
public:
  /// With the mesh's axes as first factors.
  PlanTables(MeshOp mesh, sprt::plan::PlanT &plan);

  uint32_t layoutNumber(LayoutAttr layout);
  uint32_t factorNumber(AxisAttr axis);
  /// -1 without documents.
  int32_t documentsNumber(DocumentsAttr documents);
  /// Has layouts of batches be dealt by the documents of queries.
  void dealBy(DocumentsAttr documents);
  /// The plan's scratch then holds what the kernel needs.
  uint32_t kernelNumber(const KernelInfo &info);

  MeshOp getMesh() const { return mesh; }
  ArrayRef<std::unique_ptr<sprt::plan::FactorT>> factors() const {
    return plan.factors;
  }

private:
  /// Of the numbers that tell documents apart.
  uint32_t numbersOf(FlatSymbolRefAttr documents);

  MeshOp mesh;
  sprt::plan::PlanT &plan;
  DenseMap<Attribute, uint32_t> layouts;
  DenseMap<Attribute, int32_t> documents;
  DenseMap<Attribute, uint32_t> documentNumbers;
  llvm::StringMap<uint32_t> kernels;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLANTABLES_H
