// Which row of a table of tiles a launch takes.

#include "CUDA/CudaTiles.h"

#include "gtest/gtest.h"

using namespace mlir::sp;

namespace {

constexpr CudaOrder kOrder = CudaOrder::HeaviestFirst;
constexpr CudaTileRow kRows[] = {
    {64, 64, CudaMask::Whole, 1024, 96, 3, 2, kOrder},
    {64, 64, CudaMask::Whole, 0, 128, 3, 2, kOrder},
    {64, 64, CudaMask::Masked, 0, 112, 3, 2, kOrder},
    {192, 128, CudaMask::Whole, 2048, 80, 2, 2, kOrder},
    {192, 192, CudaMask::Whole, 0, 64, 2, 2, kOrder},
};

/// The number of the row in kRows, or -1.
int64_t find(int64_t head, int64_t value, CudaMask mask, int64_t keys) {
  const CudaTileRow *row = findCudaTile(kRows, head, value, mask, keys);
  return row ? row - kRows : -1;
}

TEST(CudaTiles, firstRowThatFitsIsTaken) {
  EXPECT_EQ(find(64, 64, CudaMask::Whole, 1), 0);
  EXPECT_EQ(find(64, 64, CudaMask::Whole, 1024), 0);
  EXPECT_EQ(find(64, 64, CudaMask::Whole, 1025), 1);
  EXPECT_EQ(find(48, 16, CudaMask::Whole, 1 << 20), 1);
  EXPECT_EQ(find(64, 64, CudaMask::Masked, 1), 2);
  EXPECT_EQ(find(80, 64, CudaMask::Whole, 2048), 3);
  EXPECT_EQ(find(80, 64, CudaMask::Whole, 2049), 4);
  EXPECT_EQ(find(64, 160, CudaMask::Whole, 1), 4);
}

TEST(CudaTiles, whatNoRowFitsHasNone) {
  EXPECT_EQ(find(64, 64, CudaMask::Scored, 1), -1);
  EXPECT_EQ(find(80, 64, CudaMask::Masked, 1), -1);
  EXPECT_EQ(find(208, 64, CudaMask::Whole, 1), -1);
}

TEST(CudaTiles, everyRowOfTheTableIsTakenByItsLaunch) {
  llvm::ArrayRef<CudaTileRow> rows = cudaTiles();
  for (const CudaTileRow &row : rows) {
    SCOPED_TRACE("row " + std::to_string(&row - rows.data()));
    EXPECT_TRUE(row.shapeFor(row.mostHead, row.mostValue).isValid());
    EXPECT_EQ(findCudaTile(rows, row.mostHead, row.mostValue, row.mask,
                           row.mostKeys ? row.mostKeys : INT64_MAX),
              &row);
  }
}

} // namespace
