//===- sp-kernel-check.cpp - Kernels against the reference evaluator ------===//
//
// sp-kernel-check in.mlir [--cpu=name] [--grid] [--keep=out.spx]
// sp-kernel-check in.mlir --ptx=out.ptx
//
// Compiles every public function of a module as one kernel, calls it on made-up
// arguments, its tiles dealt in two uneven parts, and compares with the
// evaluator. Prints a line for each kernel and ends with 1 if one differs. With
// --grid kernels are those for GPUs, emulated. With --ptx they are only
// written. Integers are small, so that they serve as indices and as shifts;
// every eighth float of a function whose name ends in "special" is a special
// value.

#include "CUDA/CudaCompiler.h"
#include "CUDA/GridEmission.h"
#include "Fusion/KernelEmission.h"
#include "Machine/LowerToLLVM.h"
#include "Machine/ObjectEmission.h"
#include "device/EmulatedGrid.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "sp/Codegen/ArtifactLink.h"
#include "sp/Interpreter/Interpreter.h"
#include "sp/Interpreter/TensorBytes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sprt/kernel.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <dlfcn.h>
#include <random>

using namespace mlir;
using interpreter::Storage;
using interpreter::Tensor;
using interpreter::tensorFromBytes;

static llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                        llvm::cl::Required);
static llvm::cl::opt<std::string> cpu("cpu", llvm::cl::init("native"));
static llvm::cl::opt<std::string> keep("keep");
static llvm::cl::opt<bool> grid("grid");
static llvm::cl::opt<std::string> ptx("ptx");

/// What runs a kernel.
struct Shape {
  int64_t tiles = 0; ///< or blocks
  int64_t threads = 1, sharedBytes = 0;
  int64_t scratchBytes = 0; ///< altogether
};

/// Memory of a buffer, aligned, with bytes behind it that must stay as they
/// are.
class Guarded {
public:
  explicit Guarded(size_t bytes)
      : bytes(bytes), memory(bytes + 2 * kMargin, char(0xAB)) {}
  char *data() {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return memory.data() + (kMargin - address % kMargin);
  }
  bool isIntact() {
    return llvm::all_of(llvm::ArrayRef<char>(data() + bytes, kMargin / 2),
                        [](char c) { return c == char(0xAB); });
  }
  llvm::ArrayRef<char> content() { return {data(), bytes}; }

private:
  static constexpr size_t kMargin = 64;
  size_t bytes;
  std::vector<char> memory;
};

static Tensor makeArgument(RankedTensorType type, bool special,
                           std::mt19937_64 &random) {
  static constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY,
                                        NAN, 1.0,  -2.5,     3.0e38};
  Tensor tensor(type);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int64_t> small(-4, 11), natural(0, 11);
  interpreter::dispatch(tensor.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (auto [i, element] : llvm::enumerate(tensor.mutableElements<T>())) {
      if constexpr (std::is_same_v<T, double>)
        element = special && i % 8 == 7 ? kSpecial[i / 8 % 8] : normal(random);
      else if constexpr (std::is_same_v<T, std::complex<double>>)
        element = {normal(random), normal(random)};
      else if constexpr (std::is_same_v<T, uint8_t>)
        element = natural(random) % 2;
      else if constexpr (std::is_same_v<T, uint64_t>)
        element = natural(random);
      else
        element = small(random);
    }
  });
  // Rounded to the element type.
  return tensorFromBytes(type, bytesOf(tensor));
}

static double toleranceOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (element.isF64())
    return 1e-12;
  return element.isF32() ? 1e-5 : 2e-2;
}

/// The largest difference in units of the largest element; infinite if one
/// value is special and the other is not the same.
static double difference(const Tensor &got, const Tensor &want) {
  double worst = 0, scale = 0;
  auto compare = [&](double x, double y) {
    if (std::isfinite(x) && std::isfinite(y)) {
      worst = std::max(worst, std::abs(x - y));
      scale = std::max(scale, std::abs(y));
    } else if (!(x == y || (std::isnan(x) && std::isnan(y)))) {
      worst = INFINITY;
    }
  };
  interpreter::dispatch(got.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (auto [x, y] : llvm::zip_equal(got.elements<T>(), want.elements<T>())) {
      if constexpr (std::is_same_v<T, std::complex<double>>) {
        compare(x.real(), y.real());
        compare(x.imag(), y.imag());
      } else if constexpr (std::is_same_v<T, double>) {
        compare(x, y);
      } else if (x != y) {
        worst = INFINITY;
      }
    }
  });
  return scale > 0 ? worst / scale : worst;
}

static void runTiles(void *kernel, const Shape &shape,
                     const std::vector<void *> &buffers, char *scratch) {
  auto *tiles = reinterpret_cast<sprt_kernel>(kernel);
  int64_t cut = (shape.tiles + 2) / 3;
  tiles(buffers.data(), nullptr, cut, shape.tiles, scratch);
  tiles(buffers.data(), nullptr, 0, cut, scratch);
}

static void runGrid(void *kernel, const Shape &shape,
                    const std::vector<void *> &buffers, char *scratch) {
  std::vector<void *> arguments = buffers;
  arguments.push_back(scratch);
  // Fewer blocks than asked for do the same.
  sprt::emulateGrid(
      reinterpret_cast<sprt_emulated_thread>(kernel), arguments.data(),
      {static_cast<int>((shape.tiles + 2) / 3), static_cast<int>(shape.threads),
       static_cast<int>(shape.sharedBytes), /*seed=*/7});
}

static FailureOr<Shape> emit(func::FuncOp function, ModuleOp kernels) {
  if (!grid && ptx.empty()) {
    FailureOr<sp::KernelShape> shape = sp::emitKernel(function, kernels);
    if (failed(shape))
      return failure();
    return Shape{shape->tiles, 1, 0, shape->scratchBytes};
  }
  FailureOr<sp::GridShape> shape = sp::emitGridKernel(function, kernels);
  if (failed(shape))
    return failure();
  return Shape{shape->blocks, shape->threads, shape->sharedBytes,
               shape->blocks * shape->scratchBytes};
}

static int writePtx(ModuleOp kernels) {
  FailureOr<std::string> text = sp::emitPtx(kernels, sp::findLibdevice());
  std::error_code code;
  llvm::raw_fd_ostream stream(ptx, code);
  if (failed(text) || code)
    return 1;
  stream << *text;
  return 0;
}

static bool check(func::FuncOp function, const Shape &shape, void *library) {
  std::string name = function.getName().str();
  void *kernel = dlsym(library, name.c_str());
  if (!kernel && shape.tiles > 0)
    return false;
  std::mt19937_64 random(42);
  std::vector<Tensor> arguments;
  std::vector<Guarded> buffers;
  for (Type type : function.getArgumentTypes()) {
    arguments.push_back(makeArgument(cast<RankedTensorType>(type),
                                     StringRef(name).ends_with("special"),
                                     random));
    std::vector<char> bytes = bytesOf(arguments.back());
    buffers.emplace_back(bytes.size());
    llvm::copy(bytes, buffers.back().data());
  }
  for (Type type : function.getResultTypes())
    buffers.emplace_back(bytesOf(Tensor(cast<RankedTensorType>(type))).size());
  Guarded scratch(shape.scratchBytes);
  std::vector<void *> addresses;
  for (Guarded &buffer : buffers)
    addresses.push_back(buffer.data());
  if (shape.tiles > 0)
    (grid ? runGrid : runTiles)(kernel, shape, addresses, scratch.data());

  interpreter::EvaluationOptions options;
  options.precision = interpreter::Precision::Program;
  auto wanted = interpreter::evaluateFunction(function, arguments, options);
  if (failed(wanted))
    return false;
  double worst = 0;
  bool isRight = scratch.isIntact();
  for (auto [i, want] : llvm::enumerate(*wanted)) {
    Guarded &buffer = buffers[arguments.size() + i];
    Tensor got = tensorFromBytes(want.getType(), buffer.content());
    double error = difference(got, want);
    worst = std::max(worst, error);
    isRight &= buffer.isIntact() && error <= toleranceOf(want.getElementType());
  }
  llvm::outs() << (isRight ? "ok    " : "WRONG ") << name << " tiles "
               << shape.tiles << " error " << worst << "\n";
  return isRight;
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  sp::registerInputDialects(registry);
  registry.insert<arith::ArithDialect, gpu::GPUDialect, math::MathDialect,
                  scf::SCFDialect, LLVM::LLVMDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  PassManager manager(&context);
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  if (failed(manager.run(*module)))
    return 1;

  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module->getLoc());
  std::vector<std::pair<func::FuncOp, Shape>> shapes;
  for (auto function : module->getOps<func::FuncOp>()) {
    FailureOr<Shape> shape = emit(function, *kernels);
    if (failed(shape))
      return 1;
    shapes.emplace_back(function, *shape);
  }
  if (!ptx.empty())
    return writePtx(*kernels);
  if (grid)
    sp::emulateGrids(*kernels);
  std::string error, path = keep;
  SmallString<128> temporary;
  if (path.empty() &&
      !llvm::sys::fs::createTemporaryFile("kernels", "spx", temporary))
    path = std::string(temporary);
  auto target = sp::resolveCPUTarget(cpu, error);
  SmallVector<char, 0> object;
  llvm::ArrayRef<char> part;
  sp::ArtifactParts parts;
  if (succeeded(target) && succeeded(sp::lowerToLLVM(*kernels)) &&
      succeeded(sp::emitObject(*kernels, *target, object))) {
    part = object;
    parts.objects.push_back(part);
    parts.plan = llvm::ArrayRef<char>("none", 4);
    SmallVector<char, 0> artifact;
    if (succeeded(sp::linkArtifact(parts, artifact, error))) {
      std::error_code code;
      llvm::raw_fd_ostream(path, code).write(artifact.data(), artifact.size());
      error = code ? code.message() : "";
    }
  }
  void *library = error.empty() ? dlopen(path.c_str(), RTLD_NOW) : nullptr;
  if (!library) {
    llvm::errs() << "error: " << (error.empty() ? dlerror() : error) << "\n";
    return 1;
  }
  bool isRight = true;
  for (auto [function, shape] : shapes)
    isRight &= check(function, shape, library);
  if (keep.empty())
    llvm::sys::fs::remove(path);
  return isRight ? 0 : 1;
}
