// A cubin is an ELF file whose section .text.<kernel> holds 16-byte
// instructions. Code is read in its order, which is that of execution within
// the window from a product to the wait that retires it; but the instructions
// of a step are those on the shortest way around its loop.

#include "CUDA/CubinCheck.h"

#include "sprt/cuda/RegisterPool.h"

#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <queue>

namespace mlir::sp {

namespace {

enum Opcode : unsigned {
  HgmmaShared = 0x9f0,    ///< both factors in shared memory
  HgmmaRegisters = 0xdf0, ///< the first one in registers
  Warpgroup = 0x9c5,      ///< arrive, or wait
  SetRegisters = 0x9c8,   ///< of each thread of a warpgroup
  Mufu = 0x308,           ///< powers, among others
  Branch = 0x947,
  Exit = 0x94d,
  Return = 0x950,
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
    0x918, 0x9a7, 0x9c8, 0x5a7, 0x5b2, 0x947, 0x945,
    0x941,                                  // control and barriers
    0x385, 0x386, 0x388, 0x986, 0x988, Stl, // stores
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

bool isProduct(GpuInstruction instruction) {
  unsigned opcode = opcodeOf(instruction);
  return opcode == HgmmaShared || opcode == HgmmaRegisters;
}

/// Where control may go from the instruction at `place`.
SmallVector<int64_t, 2> successors(ArrayRef<GpuInstruction> code,
                                   int64_t place) {
  const auto &[low, high] = code[place];
  unsigned opcode = low & 0xfff;
  // Both predicates are the one that always holds.
  bool isAlways = (low >> 12 & 0xf) == 7 && (high >> 23 & 7) == 7;
  SmallVector<int64_t, 2> to;
  bool goesOn = opcode != Branch && opcode != Exit && opcode != Return;
  if (goesOn || !isAlways)
    to.push_back(place + 1);
  if (opcode == Branch) {
    // In words, from the next instruction on.
    int64_t words = llvm::SignExtend64<38>((low >> 16 & 0xff) |
                                           (low >> 34 & 0x3fffffff) << 8);
    to.push_back(place + 1 + words * 4 / int64_t(sizeof(GpuInstruction)));
  }
  llvm::erase_if(to, [&](int64_t next) {
    return next < 0 || next >= static_cast<int64_t>(code.size());
  });
  return to;
}

/// Counts the instructions on the shortest way from `wait` back to it.
void countStep(ArrayRef<GpuInstruction> code, int64_t wait,
               CubinCensus &census) {
  struct Way {
    int64_t instructions, place, before;
    bool operator>(const Way &other) const {
      return std::tie(instructions, place) >
             std::tie(other.instructions, other.place);
    }
  };
  std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
  DenseMap<int64_t, int64_t> before;
  auto goOn = [&](int64_t instructions, int64_t place) {
    for (int64_t next : successors(code, place))
      ways.push({instructions + !isProduct(code[next]), next, place});
  };
  goOn(0, wait);
  while (!ways.empty()) {
    Way way = ways.top();
    ways.pop();
    if (!before.try_emplace(way.place, way.before).second)
      continue;
    if (way.place != wait) {
      goOn(way.instructions, way.place);
      continue;
    }
    census.stepInstructions = way.instructions;
    int64_t place = wait;
    do {
      census.stepPowers += opcodeOf(code[place]) == Mufu;
      place = before[place];
    } while (place != wait);
    return;
  }
}

/// A count of registers: of a thread that gives some back, or that takes more.
void readRegisters(GpuInstruction instruction, CubinCensus &census) {
  int64_t count = instruction[0] >> 32 & 0xffff;
  bool isAsking = instruction[1] >> 9 & 1;
  int64_t &most = isAsking ? census.raised : census.lowered;
  most = std::max(most, count);
}

} // namespace

std::string CubinCensus::overSubscription() const {
  if (raised == 0)
    return "";
  ::sprt::cuda::RegisterPool pool = {static_cast<int>(threads)};
  int64_t owned = registers * pool.warpgroups(),
          asked = lowered + raised * (pool.warpgroups() - 1);
  if (asked <= owned)
    return "";
  return std::to_string(pool.warpgroups()) + " warpgroups ask for " +
         std::to_string(lowered) + " and " +
         std::to_string(pool.warpgroups() - 1) + " times " +
         std::to_string(raised) + " registers a thread, " +
         std::to_string(asked) + " in all, of the " + std::to_string(owned) +
         " that they were launched with: they would wait for ever";
}

CubinCensus takeCensus(ArrayRef<GpuInstruction> code) {
  CubinCensus census;
  census.instructions = code.size();
  SmallVector<Registers> read; // by products that are pending
  std::optional<int64_t> window;
  for (auto [place, instruction] : llvm::enumerate(code)) {
    unsigned opcode = opcodeOf(instruction);
    census.localAccesses += opcode == Ldl || opcode == Stl;
    census.products += isProduct(instruction);
    if (opcode == SetRegisters)
      readRegisters(instruction, census);
    if (window && opcode == Mufu)
      ++*window;
    if (std::optional<unsigned> pending = pendingAfter(instruction)) {
      if (*pending > 0) {
        window = 0;
        if (census.stepInstructions == 0)
          countStep(code, place, census);
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

namespace {

using Elf = llvm::object::ELF64LEFile;

enum CubinAttribute : uint8_t { MaxThreads = 0x05, RegisterCount = 0x2f };

/// visit(attribute, words) of each that has words, in a section of notes.
void forEachNote(ArrayRef<uint8_t> notes,
                 llvm::function_ref<void(uint8_t, ArrayRef<uint8_t>)> visit) {
  constexpr uint8_t kHasWords = 4;
  constexpr size_t kHead = 4; // format, attribute, and a number or a size
  while (notes.size() >= kHead) {
    uint8_t format = notes[0], attribute = notes[1];
    size_t size = llvm::support::endian::read16le(&notes[2]);
    notes = notes.drop_front(kHead);
    if (format != kHasWords)
      continue;
    size = std::min(size, notes.size());
    visit(attribute, notes.take_front(size));
    notes = notes.drop_front(size);
  }
}

int64_t wordOf(ArrayRef<uint8_t> words, size_t index) {
  return words.size() < 4 * (index + 1)
             ? 0
             : llvm::support::endian::read32le(&words[4 * index]);
}

/// The contents of a section, or nothing where there is none.
llvm::Expected<ArrayRef<uint8_t>> sectionOf(const Elf &file, StringRef name) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    auto found = file.getSectionName(section);
    if (!found)
      return found.takeError();
    if (*found == name)
      return file.getSectionContents(section);
  }
  return ArrayRef<uint8_t>();
}

/// The number of the symbol that notes call a kernel by.
llvm::Expected<int64_t> symbolOf(const Elf &file, StringRef kernel) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto symbols = file.symbols(&section);
    auto names = file.getStringTableForSymtab(section);
    if (!symbols)
      return symbols.takeError();
    if (!names)
      return names.takeError();
    for (auto [number, symbol] : llvm::enumerate(*symbols)) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (*name == kernel)
        return static_cast<int64_t>(number);
    }
  }
  return llvm::createStringError("no symbol " + kernel);
}

llvm::Expected<CubinCensus> censusOf(const Elf &file, StringRef kernel) {
  std::string name = kernel.str();
  auto bytes = sectionOf(file, ".text." + name);
  if (!bytes)
    return bytes.takeError();
  if (bytes->empty())
    return llvm::createStringError("no section .text." + name);
  auto symbol = symbolOf(file, kernel);
  if (!symbol)
    return symbol.takeError();
  auto ofAll = sectionOf(file, ".nv.info");
  if (!ofAll)
    return ofAll.takeError();
  auto ofKernel = sectionOf(file, ".nv.info." + name);
  if (!ofKernel)
    return ofKernel.takeError();
  std::vector<GpuInstruction> code(bytes->size() / sizeof(GpuInstruction));
  std::memcpy(code.data(), bytes->data(), code.size() * sizeof(GpuInstruction));
  CubinCensus census = takeCensus(code);
  forEachNote(*ofAll, [&](uint8_t attribute, ArrayRef<uint8_t> words) {
    if (attribute == RegisterCount && wordOf(words, 0) == *symbol)
      census.registers = wordOf(words, 1);
  });
  forEachNote(*ofKernel, [&](uint8_t attribute, ArrayRef<uint8_t> words) {
    if (attribute == MaxThreads)
      census.threads = wordOf(words, 0);
  });
  return census;
}

} // namespace

FailureOr<CubinCensus> takeCensus(ArrayRef<char> cubin, StringRef kernel,
                                  std::string &error) {
  auto file = Elf::create(StringRef(cubin.data(), cubin.size()));
  auto census = file ? censusOf(*file, kernel)
                     : llvm::Expected<CubinCensus>(file.takeError());
  if (census)
    return *census;
  error = "expected a cubin with the kernel '" + kernel.str() +
          "' but got: " + llvm::toString(census.takeError());
  return failure();
}

} // namespace mlir::sp
