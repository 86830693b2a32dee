/// Tests of GPUs whose driver and cuBLASLt are fakes.
#ifndef SP_TEST_RUNTIME_ONFAKEDRIVER_H
#define SP_TEST_RUNTIME_ONFAKEDRIVER_H

#include "FakeCublasLt.h"
#include "FakeCuda.h"
#include "PlanBuilder.h"
#include "device/Device.h"
#include "sprt/cuda/AttentionArguments.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace sprt::test {

class OnFakeDriver : public testing::Test {
protected:
  // The fakes are known by their names, before anybody asks for those.
  OnFakeDriver()
      : library(dlopen(SP_FAKE_CUDA, RTLD_NOW)),
        productLibrary(dlopen(SP_FAKE_CUBLASLT, RTLD_NOW)) {
    EXPECT_TRUE(library && productLibrary) << dlerror();
    fake = reinterpret_cast<FakeCudaFunction>(dlsym(library, "fakeCuda"))();
    products = reinterpret_cast<FakeCublasLtFunction>(
        dlsym(productLibrary, "fakeCublasLt"))();
    *fake = FakeCuda();
    products->version = FakeCublasLt().version;
    products->refuses = false;
    products->searches = products->products = 0;
    products->epilogues = 0;
  }
  ~OnFakeDriver() override {
    endAll();
    EXPECT_EQ(fake->allocations, 0);
    EXPECT_EQ(fake->streams, 0);
    EXPECT_EQ(fake->events, 0);
    EXPECT_EQ(fake->captures, 0);
    EXPECT_EQ(fake->graphs, 0);
    EXPECT_EQ(products->handles, 0);
    EXPECT_EQ(products->descriptors, 0);
    dlclose(library);
    dlclose(productLibrary);
  }

  /// Ends what hangs. What was kept because of that is freed by who next opens
  /// the GPU.
  void endAll() {
    fake->stuck = false;
    fake->hangsAt = -1;
    if (fake->allocations == 0 && fake->streams == 0)
      return;
    std::shared_ptr<Device> device;
    EXPECT_FALSE(openDevice("0", device));
  }
  static void addImage(PlanBuilder &builder, const char *architecture) {
    auto image = std::make_unique<plan::ImageT>();
    image->symbol = "image";
    image->bytes = 1;
    image->architecture = architecture;
    builder.plan.images.push_back(std::move(image));
    builder.kernels["image"] = [](void *const *, const int64_t *, int64_t,
                                  int64_t, void *) {};
  }
  /// What the GPU runs for the attention of `cudaRing`.
  void useRingKernel(const PlanBuilder &builder) {
    fake->kernel = reinterpret_cast<sprt_emulated_kernel>(
        reinterpret_cast<void *>(builder.kernels.at("attend_emulated")));
    fake->parameterBytes = sizeof(cuda::ForwardArguments);
  }
  static std::string open(const PlanBuilder &builder,
                          const char *device = "0") {
    Runner runner(builder);
    runner.options.device = device;
    return runner.open(runner.options);
  }

  /// Opens with so little free memory that nothing runs, then with what the
  /// status asks for: not a byte less will do, and no run takes more.
  template <typename Inputs>
  void expectEnoughMemory(const PlanBuilder &builder, const Inputs &inputs) {
    fake->freeBytes = 1;
    std::string refusal = open(builder);
    size_t at = refusal.find(" are ");
    ASSERT_NE(at, std::string::npos) << refusal;
    size_t needed = 1 + std::stoull(refusal.substr(at + 5));
    fake->freeBytes = needed - 1;
    EXPECT_THAT_CONTAINS(open(builder), " are 1 bytes more than the ");
    fake->freeBytes = needed;
    Runner runner(builder);
    runner.options.device = "0";
    for (int run = 0; run < 3; ++run)
      ASSERT_EQ(runner.run(inputs), "");
  }

  void *library, *productLibrary;
  FakeCuda *fake;
  FakeCublasLt *products;
};

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_ONFAKEDRIVER_H
