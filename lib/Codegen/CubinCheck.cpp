// A cubin is an ELF file whose section .text.<kernel> holds 16-byte
// instructions. Code is read in its order, which is that of execution within
// the window from a product to the wait that retires it.

#include "sp/Codegen/CubinCheck.h"

#include "llvm/Object/ELF.h"

namespace mlir::sp {

namespace {

enum Opcode : unsigned {
  HgmmaShared = 0x9f0,    ///< both factors in shared memory
  HgmmaRegisters = 0xdf0, ///< the first one in registers
  Warpgroup = 0x9c5,      ///< arrive, or wait
  Mufu = 0x308,           ///< powers, among others
  Ldl = 0x983,
  Stl = 0x387,
  Ldg = 0x981,
  Lds = 0x984,
};

/// Instructions whose field for the result names no register of the thread: a
/// uniform one, a predicate, or nothing.
constexpr unsigned kNoResult[] = {
    0x882, 0x890, 0x891, 0x892, 0x899, 0xc82, 0x2ca, // uniform
    0x20b, 0x20c, 0x80b, 0x80c, 0xc0b, 0xc0c,        // predicates
    0x918, 0x9a7, 0x5a7, 0x5b2, 0x947, 0x945, 0x941, // control and barriers
    0x385, 0x386, 0x388, 0x986, 0x988, Stl,          // stores
};

struct Registers {
  unsigned first, count;
  bool overlaps(Registers other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

unsigned opcodeOf(GpuInstruction instruction) { return instruction[0] & 0xfff; }

/// What an instruction writes; a load's width is taken as the largest.
Registers resultOf(GpuInstruction instruction) {
  unsigned opcode = opcodeOf(instruction);
  unsigned first = instruction[0] >> 16 & 0xff;
  constexpr unsigned kZero = 255; // the register that is always 0
  if (first == kZero || llvm::is_contained(kNoResult, opcode))
    return {first, 0};
  bool isLoad = opcode == Ldg || opcode == Lds || opcode == Ldl;
  return {first, isLoad ? 4u : 1u};
}

/// How many groups of products a wait leaves pending; nothing if it is none.
std::optional<unsigned> pendingAfter(GpuInstruction instruction) {
  bool isWait = opcodeOf(instruction) == Warpgroup &&
                (instruction[0] >> 32 & 0xffff) == 0x8000;
  if (!isWait)
    return std::nullopt;
  return instruction[1] >> 8 & 7;
}

} // namespace

CubinCensus takeCensus(ArrayRef<GpuInstruction> code) {
  CubinCensus census;
  census.instructions = code.size();
  SmallVector<Registers> read; // by products that are pending
  std::optional<int64_t> window;
  for (auto [place, instruction] : llvm::enumerate(code)) {
    unsigned opcode = opcodeOf(instruction);
    census.localAccesses += opcode == Ldl || opcode == Stl;
    census.products += opcode == HgmmaShared || opcode == HgmmaRegisters;
    if (window && opcode == Mufu)
      ++*window;
    if (std::optional<unsigned> pending = pendingAfter(instruction)) {
      if (*pending > 0) {
        window = 0;
        continue;
      }
      census.overlappedPowers += window.value_or(0);
      window.reset();
      read.clear();
      continue;
    }
    if (opcode == HgmmaRegisters) {
      read.push_back({static_cast<unsigned>(instruction[0] >> 24 & 0xff), 4});
      continue;
    }
    if (opcode == HgmmaShared)
      continue;
    Registers result = resultOf(instruction);
    if (llvm::any_of(read, [&](Registers each) {
          return result.count > 0 && each.overlaps(result);
        }))
      census.hazards.push_back("instruction " + std::to_string(place) +
                               " writes R" + std::to_string(result.first) +
                               ", which a product still reads");
  }
  return census;
}

FailureOr<CubinCensus> takeCensus(ArrayRef<char> cubin, StringRef kernel,
                                  std::string &error) {
  using namespace llvm::object;
  auto refuse = [&](llvm::Error failed) {
    error = "expected a cubin with the kernel '" + kernel.str() +
            "' but got: " + llvm::toString(std::move(failed));
    return failure();
  };
  auto file = ELF64LEFile::create(StringRef(cubin.data(), cubin.size()));
  if (!file)
    return refuse(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return refuse(sections.takeError());
  std::string wanted = ".text." + kernel.str();
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name)
      return refuse(name.takeError());
    if (*name != wanted)
      continue;
    auto bytes = file->getSectionContents(section);
    if (!bytes)
      return refuse(bytes.takeError());
    std::vector<GpuInstruction> code(bytes->size() / sizeof(GpuInstruction));
    std::memcpy(code.data(), bytes->data(),
                code.size() * sizeof(GpuInstruction));
    return takeCensus(code);
  }
  return refuse(llvm::createStringError("no section " + wanted));
}

} // namespace mlir::sp
