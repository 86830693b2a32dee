//===- PlanTables.cpp - What commands of a plan name by number ------------===//

#include "Plan/PlanTables.h"

using namespace mlir;
using namespace mlir::sp;
namespace plan = sprt::plan;

PlanTables::PlanTables(MeshOp mesh, plan::PlanT &plan)
    : mesh(mesh), plan(plan) {
  int64_t stride = mesh.getRanks();
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    stride /= axis.getSize();
    auto factor = std::make_unique<sprt::plan::FactorT>();
    factor->name = axis.getName().str();
    factor->size = axis.getSize();
    factor->stride = stride;
    plan.factors.push_back(std::move(factor));
  }
}

uint32_t PlanTables::layoutNumber(LayoutAttr layout) {
  // A dense layout is the same on every axis.
  LayoutAttr key = layout.isDense() ? LayoutAttr::getDense(mesh.getContext(),
                                                           layout.getLength())
                                    : layout;
  auto [entry, isNew] = layouts.try_emplace(key, plan.layouts.size());
  if (isNew) {
    auto table = std::make_unique<sprt::plan::LayoutT>();
    table->kind =
        static_cast<sprt::plan::LayoutKind>(static_cast<int>(key.getKind()));
    table->length = layout.getLength();
    table->ranks = layout.getRanks() / layout.getSplit();
    table->split = layout.getSplit();
    table->within = layout.getWithin();
    table->blocks = std::max(layout.getBlocks(), layout.getTurns());
    table->apart = layout.getTurns() > 1;
    table->holds = key.getHolds();
    plan.layouts.push_back(std::move(table));
  }
  return entry->second;
}

uint32_t PlanTables::numbersOf(FlatSymbolRefAttr name) {
  auto [entry, isNew] =
      documentNumbers.try_emplace(name, plan.document_numbers.size());
  if (!isNew)
    return entry->second;
  auto of = SymbolTable::lookupNearestSymbolFrom<DocumentsOp>(mesh, name);
  auto table = std::make_unique<sprt::plan::DocumentNumbersT>();
  table->length = of.getLength();
  if (of.isComputed()) {
    // Results are those of bodies, in the module's order.
    table->result = 0;
    for (auto before : of->getParentOfType<ModuleOp>().getOps<DocumentsOp>()) {
      if (before == of)
        break;
      table->result += before.isComputed();
    }
  } else {
    table->input = of.getArguments()[0];
  }
  plan.document_numbers.push_back(std::move(table));
  return entry->second;
}

int32_t PlanTables::documentsNumber(DocumentsAttr of) {
  if (!of)
    return -1;
  auto known = documents.find(of);
  if (known != documents.end())
    return known->second;
  auto table = std::make_unique<sprt::plan::DocumentsT>();
  table->queries = numbersOf(of.getQueries());
  table->keys = numbersOf(of.getKeys());
  plan.documents.push_back(std::move(table));
  return documents[of] = plan.documents.size() - 1;
}

void PlanTables::dealBy(DocumentsAttr documents) {
  if (!plan.batch)
    plan.batch = std::make_unique<sprt::plan::BatchT>();
  // Padding is computed as tokens are: what ranks differ by are pairs.
  plan.batch->token_cost = 0;
  plan.batch->pair_cost = 1;
  plan.batch->numbers = numbersOf(documents.getQueries());
}

uint32_t PlanTables::factorNumber(AxisAttr axis) {
  std::string name = axis.getText();
  for (auto [number, factor] : llvm::enumerate(plan.factors))
    if (factor->name == name)
      return number;
  MeshOp::Factor part = *mesh.findFactor(axis);
  auto factor = std::make_unique<sprt::plan::FactorT>();
  factor->name = name;
  factor->size = part.size;
  factor->stride = part.stride;
  factor->is_part = true;
  plan.factors.push_back(std::move(factor));
  return plan.factors.size() - 1;
}

uint32_t PlanTables::kernelNumber(const KernelInfo &info) {
  auto [entry, isNew] = kernels.try_emplace(info.symbol, plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<sprt::plan::KernelT>();
    kernel->symbol = info.symbol;
    kernel->threads = info.threads;
    kernel->shared_bytes = info.sharedBytes;
    plan.kernels.push_back(std::move(kernel));
  }
  plan.scratch_bytes = std::max(plan.scratch_bytes, info.scratchBytes);
  return entry->second;
}

std::vector<plan::Band> mlir::sp::bandList(ArrayAttr bands) {
  std::vector<plan::Band> list;
  for (BandAttr band : bands.getAsRange<BandAttr>())
    list.emplace_back(band.getQ0(), band.getQ1(), band.getK0(), band.getK1(),
                      band.getLo(), band.getHi(), band.getUniform());
  return list;
}

plan::DType mlir::sp::dtypeOf(Type type) {
  if (auto complexType = dyn_cast<ComplexType>(type))
    return complexType.getElementType().isF64() ? plan::DType::c128
                                                : plan::DType::c64;
  if (type.isF64())
    return plan::DType::f64;
  if (type.isF16())
    return plan::DType::f16;
  if (type.isBF16())
    return plan::DType::bf16;
  if (isa<FloatType>(type))
    return plan::DType::f32;
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return plan::DType::i1;
  bool isUnsigned = type.isUnsignedInteger();
  switch (width) {
  case 64:
    return isUnsigned ? plan::DType::u64 : plan::DType::i64;
  case 32:
    return isUnsigned ? plan::DType::u32 : plan::DType::i32;
  case 16:
    return isUnsigned ? plan::DType::u16 : plan::DType::i16;
  default:
    return isUnsigned ? plan::DType::u8 : plan::DType::i8;
  }
}
