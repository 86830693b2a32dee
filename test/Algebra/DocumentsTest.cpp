#include "MaskGen.h"

#include "sprt/algebra/Documents.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

using namespace sprt::algebra;

namespace {

using Numbers = std::vector<std::vector<int64_t>>;

Documents documentsOf(const Numbers &rows) {
  Documents documents;
  for (const std::vector<int64_t> &row : rows)
    documents.addRow(row.data(), int64_t(row.size()));
  return documents;
}

/// Rows of a batch, whose documents may come back.
Numbers drawRows(size_t rows, int64_t length, int64_t documents) {
  Numbers all;
  while (all.size() < rows) {
    std::vector<int64_t> row;
    while (int64_t(row.size()) < length)
      row.insert(row.end(), size_t(*rc::gen::inRange<int64_t>(1, length + 1)),
                 *rc::gen::inRange<int64_t>(-1, documents));
    row.resize(size_t(length));
    all.push_back(std::move(row));
  }
  return all;
}

const std::vector<int64_t> &rowOf(const Numbers &rows, size_t row) {
  return rows[std::min(row, rows.size() - 1)];
}

TEST(Documents, CutCausalBands) {
  Documents documents = documentsOf({{7, 7, 7, 2, 2}});
  std::optional<Bands> cut =
      within(Bands::causal(5, 5), documents, documents, 100);
  ASSERT_TRUE(cut);
  EXPECT_EQ(text(*cut), "{0,3,0,3,-inf,0} {3,5,3,5,-inf,0} ");
}

TEST(Documents, OneDocumentIsNoCut) {
  Documents documents = documentsOf({std::vector<int64_t>(64, 3)});
  std::optional<Bands> cut =
      within(Bands::causal(64, 64), documents, documents, 1);
  ASSERT_TRUE(cut);
  EXPECT_EQ(*cut, Bands::causal(64, 64));
}

TEST(Documents, ThatNeedTooManyBandsAreNotCut) {
  std::vector<int64_t> turns(40);
  for (size_t i = 0; i < turns.size(); ++i)
    turns[i] = int64_t(i % 2);
  Documents documents = documentsOf({turns});
  Bands full = Bands::full(40, 40);
  EXPECT_FALSE(within(full, documents, documents, 799));
  EXPECT_TRUE(within(full, documents, documents, 800));
}

RC_GTEST_PROP(Documents, ShowWhatTheMaskShowsInADocumentOfAnyRow, ()) {
  int64_t queries = *rc::gen::inRange<int64_t>(1, 25);
  int64_t keys = *rc::gen::inRange<int64_t>(1, 25);
  size_t rows = size_t(*rc::gen::inRange(1, 4));
  Numbers ofQueries = drawRows(*rc::gen::element(size_t(1), rows), queries, 4);
  Numbers ofKeys = drawRows(rows, keys, 4);
  Bands mask = drawMask(queries, keys);
  std::optional<Bands> cut =
      within(mask, documentsOf(ofQueries), documentsOf(ofKeys), 1 << 20);
  RC_ASSERT(cut.has_value());
  RC_ASSERT(!cut->overlap());
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      bool isOne = false;
      for (size_t row = 0; row < rows; ++row)
        isOne |=
            rowOf(ofQueries, row)[size_t(i)] == rowOf(ofKeys, row)[size_t(j)];
      RC_ASSERT(cut->visible(i, j) == (mask.visible(i, j) && isOne));
    }
}

} // namespace
