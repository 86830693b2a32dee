#ifndef SPRT_ALGEBRA_DOCUMENTS_H
#define SPRT_ALGEBRA_DOCUMENTS_H

#include "sprt/algebra/Bands.h"

namespace sprt::algebra {

/// Which document each position of a sequence is of, for each row of a batch.
/// Positions of one document mostly follow each other, but need not:
///
///     numbers     7 7 7 2 2 7 7        runs     7 [0,3)  2 [3,5)  7 [5,7)
class Documents {
public:
  struct Run {
    int64_t document;
    Interval positions;

    bool operator==(const Run &other) const {
      return document == other.document &&
             positions.begin == other.positions.begin &&
             positions.end == other.positions.end;
    }
  };
  using Row = std::vector<Run>;

  /// One more row, by the number of each position's document.
  template <typename T> void addRow(const T *numbers, int64_t count) {
    Row row;
    for (int64_t i = 0; i < count; ++i) {
      auto number = static_cast<int64_t>(numbers[i]);
      if (row.empty() || row.back().document != number)
        row.push_back({number, {i, i}});
      row.back().positions.end = i + 1;
    }
    all.push_back(std::move(row));
  }

  void addRow(Row row) { all.push_back(std::move(row)); }
  /// Those of one row, which is the last one where there are fewer.
  Documents row(size_t number) const {
    Documents one;
    one.addRow(all[number < all.size() ? number : all.size() - 1]);
    return one;
  }

  const std::vector<Row> &rows() const { return all; }
  bool operator==(const Documents &other) const { return all == other.all; }

private:
  std::vector<Row> all;
};

/// The pairs of a mask whose query and key are of one document in any row of
/// the batch; one row serves all of the other side. Nothing where that takes
/// more than `most` bands.
///
///     causal, documents of 3 and 2        {0,3,0,3,-inf,0} {3,5,3,5,-inf,0}
///     the second is the first again       {0,5,0,5,-inf,0}
std::optional<Bands> within(const Bands &mask, const Documents &queries,
                            const Documents &keys, size_t most);

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_DOCUMENTS_H
