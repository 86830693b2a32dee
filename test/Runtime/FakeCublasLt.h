/// A cuBLASLt without a GPU, for tests: products at once, on the host, of the
/// matrices that the descriptors say.
#ifndef SP_TEST_RUNTIME_FAKECUBLASLT_H
#define SP_TEST_RUNTIME_FAKECUBLASLT_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sprt::test {

/// What the library pretends, and what it saw.
struct FakeCublasLt {
  size_t version = 130100;
  bool refuses = false; ///< has no algorithm for anything
  std::atomic<int> searches{0}, products{0};
  std::atomic<uint64_t> epilogues{0}; ///< of products: bit cublasLtEpilogue_t
  std::atomic<int> descriptors{0};    ///< that have not been destroyed
  int handles = 0;                    ///< likewise
};

/// Exported by the fake as `fakeCublasLt`.
using FakeCublasLtFunction = FakeCublasLt *(*)();

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUBLASLT_H
