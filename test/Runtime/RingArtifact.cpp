// Makes the artifact that the tests of sp-run run, without a compiler:
//   sprt-ring-artifact plan FILE      writes the plan of a ring of 4
//   sprt-ring-artifact cuda FILE      the same for GPUs
//   sprt-ring-artifact seal SO SPX    appends the trailer
//   sprt-ring-artifact age SPX OUT    writes a copy that claims a newer ABI

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

bool seal(const char *from, const char *to) {
  std::string content = readFile(from);
  content.resize((content.size() + 31) / 32 * 32);
  sprt::ArtifactTrailer trailer =
      sprt::makeTrailer(content.data(), content.size());
  content.append(reinterpret_cast<const char *>(&trailer), sizeof trailer);
  return writeFile(to, content.data(), content.size());
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

} // namespace

int main(int argc, char **argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  if ((verb == "plan" || verb == "cuda") && argc == 3) {
    sprt::test::PlanBuilder builder =
        sprt::test::ringSum(4, 10, sprt::plan::LayoutKind::zigzag);
    if (verb == "cuda")
      targetGpu(builder);
    std::vector<uint8_t> plan = builder.bytes();
    return writeFile(argv[2], plan.data(), plan.size()) ? 0 : 1;
  }
  if (verb == "seal" && argc == 4)
    return seal(argv[2], argv[3]) ? 0 : 1;
  if (verb == "age" && argc == 4)
    return age(argv[2], argv[3]) ? 0 : 1;
  return 2;
}
