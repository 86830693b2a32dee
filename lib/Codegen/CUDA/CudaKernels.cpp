//===- CudaKernels.cpp - Shape and source of attention kernels for GPUs ---===//

#include "CUDA/CudaKernels.h"

#include "CUDA/CudaScore.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::sp;
using ::sprt::cuda::ForwardShape;
using ::sprt::cuda::PlainShape;
using ::sprt::cuda::StateForm;

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Whether the forward kernel can ask the score function: it takes powers
/// before it asks for their factors, and has no registers for fp64.
static bool fitsForward(func::FuncOp score) {
  WalkResult walked = score.walk([](Operation *operation) {
    bool isWide = llvm::any_of(operation->getResultTypes(), [](Type type) {
      return getElementTypeOrSelf(type).isF64();
    });
    return isWide ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return false;
  Operation *end = score.getBody().front().getTerminator();
  if (end->getNumOperands() == 1)
    return true;
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  Value factor = end->getOperand(1), x = score.getArgument(0);
  if (factor.getDefiningOp() &&
      failed(getBackwardSlice(factor, &needed, options)))
    return false;
  return factor != x && llvm::none_of(x.getUsers(), [&](Operation *user) {
           return needed.contains(user);
         });
}

static StateForm formOf(AttendOp op) {
  if (op.keepsSums())
    return StateForm::Sums;
  return op.isFinished() ? StateForm::Result : StateForm::Mean;
}

FailureOr<CudaAttention> mlir::sp::chooseCudaAttention(AttendOp op) {
  int64_t head = op.getQuery().getType().getDimSize(3),
          value = op.getValue().getType().getDimSize(3);
  CudaAttention attention;
  attention.elementType = op.getQuery().getType().getElementType();
  attention.form = formOf(op);
  bool isNarrow =
      attention.elementType.isBF16() || attention.elementType.isF16();
  bool isForward = isNarrow && head % 16 == 0 && value % 16 == 0 &&
                   op.getScale().convertToDouble() > 0;
  if (op.getScore()) {
    FailureOr<std::string> score = cudaScore(op);
    if (failed(score))
      return failure();
    attention.scoreName = op.getScore()->str();
    attention.score = *score;
    isForward &= fitsForward(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, op.getScoreAttr()));
  }
  if (isForward) {
    FailureOr<std::optional<CudaTileRow>> tile = tileOf(op);
    if (failed(tile))
      return failure();
    if (*tile) {
      attention.shape = (*tile)->shapeFor(head, value);
      attention.order = (*tile)->order;
      return attention;
    }
  }
  if (head > PlainShape::kMostSize || value > PlainShape::kMostSize)
    return op.emitOpError()
           << "expected heads of at most " << PlainShape::kMostSize
           << " elements for attention on GPUs but got " << head
           << " and, of values, " << value << "; leave --target out";
  attention.shape =
      PlainShape{static_cast<int>(head), static_cast<int>(value),
                 /*numberBytes=*/attention.elementType.isF64() ? 8 : 4};
  return attention;
}

CudaAttention mlir::sp::portableAttention(CudaAttention attention) {
  if (auto *forward = std::get_if<ForwardShape>(&attention.shape))
    attention.shape =
        PlainShape{forward->headSize, forward->valueSize, /*numberBytes=*/4};
  return attention;
}

int64_t CudaAttention::queryBlock() const {
  return std::visit([](auto s) { return s.queryBlock(); }, shape);
}
int64_t CudaAttention::threads() const {
  return std::visit([](auto s) { return s.threads(); }, shape);
}
int64_t CudaAttention::sharedBytes() const {
  return std::visit([](auto s) { return s.sharedBytes(); }, shape);
}
int64_t CudaAttention::keyBlock() const {
  auto *forward = std::get_if<ForwardShape>(&shape);
  return forward ? forward->keyBlock : 0;
}

//===----------------------------------------------------------------------===//
// Source
//===----------------------------------------------------------------------===//

namespace {
/// An element type: in names and PTX, and in C++.
struct TypeNames {
  StringRef ptx, element;
};
} // namespace

static TypeNames namesOf(Type type) {
  if (type.isBF16())
    return {"bf16", "sprt::ptx::BFloat16"};
  if (type.isF16())
    return {"f16", "sprt::ptx::Half"};
  return type.isF64() ? TypeNames{"f64", "double"} : TypeNames{"f32", "float"};
}

namespace {
/// What a kernel leaves: in names of kernels, and in C++.
struct FormNames {
  StringRef suffix, form;
};
} // namespace

static FormNames namesOf(StateForm form) {
  switch (form) {
  case StateForm::Mean:
    return {"", "Mean"};
  case StateForm::Sums:
    return {"_sums", "Sums"};
  case StateForm::Result:
    return {"_result", "Result"};
  }
  llvm_unreachable("no other form");
}

/// Whether consumers take turns, or do not, where others would not, or would.
static bool hasOwnTurns(const ForwardShape &shape) {
  return shape.turns != ForwardShape::takesTurns(shape.headSize);
}

std::string mlir::sp::cudaAttentionName(const CudaAttention &attention) {
  auto [head, value] =
      std::visit([](auto s) { return std::pair(s.headSize, s.valueSize); },
                 attention.shape);
  std::string name =
      ("attend_" + namesOf(attention.elementType).ptx + "_d" + Twine(head))
          .str();
  if (value != head)
    name += "x" + std::to_string(value);
  if (auto *tile = std::get_if<ForwardShape>(&attention.shape)) {
    name += ("_k" + Twine(tile->keyBlock) + "c" + Twine(tile->consumers) + "s" +
             Twine(tile->stages))
                .str();
    if (hasOwnTurns(*tile))
      name += tile->turns ? "t1" : "t0";
  }
  if (!attention.scoreName.empty())
    name += "_" + attention.scoreName;
  return name + namesOf(attention.form).suffix.str();
}

/// `before`0`after`, `before`1`after`, ...
static std::string list(int count, StringRef before, StringRef after) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int i = 0; i < count; ++i)
    stream << (i ? i % 8 ? ", " : ",\n          " : "") << before << i << after;
  return text;
}

namespace {
/// One form of a product of a warpgroup.
struct ProductForm {
  StringRef name;
  bool isFirst;     ///< the sum begins
  bool inRegisters; ///< the first factor
};
} // namespace

static void writeProduct(raw_ostream &os, StringRef ptxType, int columns,
                         const ProductForm &form) {
  int sums = columns / 2;
  os << "  SPRT_DEVICE static void " << form.name << "(float (&sum)[" << sums
     << "], " << (form.inRegisters ? "const uint32_t (&a)[4]" : "uint64_t a")
     << ", uint64_t b) {\n"
     << "    asm volatile(\n        \"{ .reg .pred p; setp.ne.b32 p, "
     << (form.isFirst ? 0 : 1) << ", 0;\"\n        \"wgmma.mma_async.sync"
     << ".aligned.m64n" << columns << "k16.f32." << ptxType << "." << ptxType
     << " \"\n        \"{";
  for (int i = 0; i < sums; ++i)
    os << (i ? i % 16 ? ", " : ",\"\n        \" " : "") << "%" << i;
  os << "},\"\n        \" ";
  if (form.inRegisters)
    os << "{%" << sums << ", %" << sums + 1 << ", %" << sums + 2 << ", %"
       << sums + 3 << "}, %" << sums + 4 << ", p, 1, 1, 1; }\"\n";
  else
    os << "%" << sums << ", %" << sums + 1 << ", p, 1, 1, 0, 0; }\"\n";
  os << "        : "
     << list(sums, form.isFirst ? "\"=f\"(sum[" : "\"+f\"(sum[", "])")
     << "\n        : ";
  if (form.inRegisters)
    os << list(4, "\"r\"(a[", "])") << ", \"l\"(b));\n  }\n";
  else
    os << "\"l\"(a), \"l\"(b));\n  }\n";
}

static void writeProducts(raw_ostream &os, StringRef element, StringRef ptxType,
                          int columns) {
  os << "template <> struct Product<" << element << ", " << columns << "> {\n";
  for (const ProductForm &form : {ProductForm{"begin", true, false},
                                  {"add", false, false},
                                  {"add", false, true}})
    writeProduct(os, ptxType, columns, form);
  os << "};\n";
}

/// One artifact has several types of this name: they must not be taken for one.
static void writeScore(raw_ostream &os, StringRef score) {
  if (!score.empty())
    os << "namespace {\n" << score << "} // namespace\n\n";
}

/// The last arguments of a `Config` but turns.
static std::string forms(const CudaAttention &attention) {
  StringRef score = attention.score.empty() ? "sprt::cuda::NoScore" : "Score";
  return (", " + score +
          ", sprt::cuda::StateForm::" + namesOf(attention.form).form)
      .str();
}

static void writeForward(raw_ostream &os, StringRef name, TypeNames names,
                         const ForwardShape &shape,
                         const CudaAttention &attention) {
  os << "#include \"sprt/cuda/Ptx.cuh\"\n\n#ifndef SPRT_EMULATED\n"
        "namespace sprt::ptx {\n";
  writeProducts(os, names.element, names.ptx, shape.keyBlock);
  if (shape.valueSize != shape.keyBlock)
    writeProducts(os, names.element, names.ptx, shape.valueSize);
  os << "} // namespace sprt::ptx\n#endif\n\n"
        "#include \"sprt/cuda/AttentionForward.cuh\"\n\n";
  writeScore(os, attention.score);
  os << "// Heads of " << shape.headSize << " and " << shape.valueSize << ", "
     << shape.keyBlock << " keys at a time, " << shape.consumers
     << " x 64 queries a block, " << shape.stages << " stages.\n"
     << "using Config = sprt::cuda::ForwardConfig<" << names.element << ", "
     << shape.headSize << ", " << shape.valueSize << ", " << shape.keyBlock
     << ", " << shape.consumers << ", " << shape.stages << forms(attention);
  if (hasOwnTurns(shape))
    os << (shape.turns ? ", true" : ", false");
  os << ">;\nSPRT_ATTENTION(" << name << ", Config, Forward)\n";
}

static void writePlain(raw_ostream &os, StringRef name, TypeNames names,
                       const PlainShape &shape,
                       const CudaAttention &attention) {
  os << "#include \"sprt/cuda/AttentionPlain.cuh\"\n\n";
  writeScore(os, attention.score);
  os << "// Heads of " << shape.headSize << " and " << shape.valueSize << ", "
     << shape.queryBlock() << " queries a block.\n"
     << "using Config = sprt::cuda::PlainConfig<" << names.element << ", "
     << (shape.numberBytes == 8 ? "double" : "float") << ", " << shape.headSize
     << ", " << shape.valueSize << forms(attention) << ">;\nSPRT_ATTENTION("
     << name << ", Config, Plain)\n";
}

std::string mlir::sp::cudaSource(const CudaAttention &attention) {
  std::string name = cudaAttentionName(attention), text;
  llvm::raw_string_ostream os(text);
  TypeNames names = namesOf(attention.elementType);
  if (auto *forward = std::get_if<ForwardShape>(&attention.shape))
    writeForward(os, name, names, *forward, attention);
  else
    writePlain(os, name, names, std::get<PlainShape>(attention.shape),
               attention);
  return text;
}
