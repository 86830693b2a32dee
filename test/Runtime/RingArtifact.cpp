// Makes the artifact that the tests of sp-run run, without a compiler:
//   sprt-ring-artifact plan FILE      writes the plan of a ring of 4, and
//                                     what kernels touch to FILE.signatures
//   sprt-ring-artifact cuda FILE      the same for GPUs
//   sprt-ring-artifact sums FILE      for GPUs, sums of 4 ranks
//   sprt-ring-artifact attention FILE for GPUs, one attention of one rank
//   sprt-ring-artifact seal SO SPX    appends the trailer
//   sprt-ring-artifact age SPX OUT    writes a copy that claims a newer ABI
//   sprt-ring-artifact edit SPX OUT   writes a copy of the ring for CPUs whose
//                                     kernel is asked for a tile too many

#include "CudaRing.h"
#include "Programs.h"
#include "sprt/artifact.h"

#include <fstream>
#include <iterator>

namespace {

std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

bool writeFile(const char *path, const void *data, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(data),
             static_cast<std::streamsize>(size));
  file.close();
  return static_cast<bool>(file);
}

/// Writes what lies before a trailer, and the trailer that fits.
bool writeSealed(std::string content, const char *to) {
  content.resize((content.size() + 31) / 32 * 32);
  sprt::ArtifactTrailer trailer =
      sprt::makeTrailer(content.data(), content.size());
  content.append(reinterpret_cast<const char *>(&trailer), sizeof trailer);
  return writeFile(to, content.data(), content.size());
}

bool seal(const char *from, const char *to) {
  return writeSealed(readFile(from), to);
}

/// Code for a GPU that there is not: RingKernels.c has it.
void targetGpu(sprt::test::PlanBuilder &builder) {
  builder.target(sprt::plan::Target::cuda);
  auto image = std::make_unique<sprt::plan::ImageT>();
  image->symbol = "sprt_image";
  image->bytes = 16;
  image->architecture = "sm_10";
  builder.plan.images.push_back(std::move(image));
}

/// Two reductions, each on a stream of its own: the sum of all rows of x for
/// every rank, and of all ranks' copies of y for the rows' owners.
sprt::test::PlanBuilder sums() {
  using namespace sprt;
  using namespace sprt::test;
  PlanBuilder builder(4);
  uint32_t single = builder.layout(plan::LayoutKind::contiguous, 4, 4);
  uint32_t dealt = builder.layout(plan::LayoutKind::zigzag, 7, 4);
  int64_t x = builder.arena(kRingWidth * 4);
  int64_t y = builder.arena(7 * 8), kept = builder.arena(2 * 8);
  builder.input("x", plan::DType::f32,
                {{4, static_cast<int>(single)}, {kRingWidth}}, x);
  builder.input("y", plan::DType::f32, {{7}, {2}}, y);
  builder.result("sum", plan::DType::f32,
                 {{4, static_cast<int>(single)}, {kRingWidth}}, x);
  builder.result("rows", plan::DType::f32, {{7, static_cast<int>(dealt)}, {2}},
                 kept);
  plan::AllReduceT all;
  all.factors = {0};
  all.views.push_back(view(x, kRingWidth * 4));
  all.type = plan::DType::f32;
  builder.add(std::move(all)).stream = plan::Stream::comm;
  plan::ReduceScatterT scatter;
  scatter.values.push_back(
      moved(dealt, rowsOf(y, 7 * 8, 8), rowsOf(kept, 2 * 8, 8)));
  scatter.type = plan::DType::f32;
  builder.add(std::move(scatter));
  return builder;
}

/// A ring of one rank, without what later ranks would do.
sprt::test::PlanBuilder attention() {
  sprt::test::PlanBuilder builder =
      sprt::test::cudaRing({1, 16, sprt::plan::LayoutKind::contiguous, false});
  auto &body = builder.plan.commands[2]->operation.AsLoop()->body;
  body.erase(body.begin() + 2);
  return builder;
}

/// The launch of a ring's plan, or null.
sprt::plan::LaunchT *launchOf(const sprt::plan::PlanT &plan) {
  return plan.commands[2]->operation.AsLoop()->body[2]->operation.AsLaunch();
}

/// The attention of `attention`.
sprt::plan::AttendT &attentionOf(const sprt::plan::PlanT &plan) {
  return *plan.commands[2]->operation.AsLoop()->body[1]->operation.AsAttend();
}

sprt::test::PlanBuilder ring() {
  return sprt::test::ringSum(4, 10, sprt::plan::LayoutKind::zigzag);
}

/// What the kernel touches, in the words of the plan: it adds its first buffer
/// to its second one.
std::vector<uint8_t> signatures(const sprt::plan::PlanT &plan) {
  using namespace sprt;
  plan::SignaturesT table;
  if (!plan.kernels.empty()) {
    auto signature = std::make_unique<plan::SignatureT>();
    signature->symbol = plan.kernels[0]->symbol;
    signature->threads = plan.kernels[0]->threads;
    signature->shared_bytes = plan.kernels[0]->shared_bytes;
    if (const plan::LaunchT *launch = launchOf(plan)) {
      signature->tiles = launch->tiles;
      for (size_t i = 0; i < launch->buffers.size(); ++i)
        signature->operands.emplace_back(launch->buffers[i]->bytes, i == 1);
    } else {
      const plan::AttendT &attend = attentionOf(plan);
      signature->kind = plan::KernelKind::attend;
      signature->type = plan::DType::bf16;
      signature->head_size = attend.head_size;
      signature->value_size = attend.value_size;
      signature->query_block = attend.query_block;
      signature->key_block = attend.key_block;
    }
    table.kernels.push_back(std::move(signature));
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.FinishSizePrefixed(plan::Signatures::Pack(builder, &table));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

bool age(const char *from, const char *to) {
  std::string content = readFile(from);
  if (content.size() < sizeof(sprt::ArtifactTrailer))
    return false;
  uint32_t newer = SPRT_ABI_VERSION + 1;
  size_t at = content.size() - sizeof(sprt::ArtifactTrailer) +
              offsetof(sprt::ArtifactTrailer, abiVersion);
  content.replace(at, sizeof newer, reinterpret_cast<const char *>(&newer),
                  sizeof newer);
  return writeFile(to, content.data(), content.size());
}

bool edit(const char *from, const char *to) {
  std::string content = readFile(from);
  if (content.size() < sizeof(sprt::ArtifactTrailer))
    return false;
  content.resize(content.size() - sizeof(sprt::ArtifactTrailer));
  sprt::test::PlanBuilder builder = ring();
  std::vector<uint8_t> was = builder.bytes();
  ++launchOf(builder.plan)->tiles;
  std::vector<uint8_t> now = builder.bytes();
  size_t at = content.find(std::string(was.begin(), was.end()));
  if (at == std::string::npos || was.size() != now.size())
    return false;
  content.replace(at, now.size(), std::string(now.begin(), now.end()));
  return writeSealed(std::move(content), to);
}

} // namespace

int main(int argc, char **argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  if ((verb == "plan" || verb == "cuda" || verb == "sums" ||
       verb == "attention") &&
      argc == 3) {
    sprt::test::PlanBuilder builder = verb == "sums"        ? sums()
                                      : verb == "attention" ? attention()
                                                            : ring();
    if (verb != "plan")
      targetGpu(builder);
    std::vector<uint8_t> plan = builder.bytes(),
                         known = signatures(builder.plan);
    return writeFile(argv[2], plan.data(), plan.size()) &&
                   writeFile((std::string(argv[2]) + ".signatures").c_str(),
                             known.data(), known.size())
               ? 0
               : 1;
  }
  if (verb == "seal" && argc == 4)
    return seal(argv[2], argv[3]) ? 0 : 1;
  if (verb == "age" && argc == 4)
    return age(argv[2], argv[3]) ? 0 : 1;
  if (verb == "edit" && argc == 4)
    return edit(argv[2], argv[3]) ? 0 : 1;
  return 2;
}
