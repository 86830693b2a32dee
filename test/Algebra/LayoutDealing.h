/// Layouts by their definition, and all small ones.
#ifndef SP_TEST_ALGEBRA_LAYOUTDEALING_H
#define SP_TEST_ALGEBRA_LAYOUTDEALING_H

#include "sprt/algebra/Layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace sprt::algebra {

inline constexpr LayoutKind kinds[] = {LayoutKind::contiguous,
                                       LayoutKind::zigzag, LayoutKind::striped};

/// Every layout of at most 64 positions over a ring of at most 9, split in at
/// most 4.
inline void forWholeLayouts(const std::function<void(const Layout &)> &check) {
  for (LayoutKind kind : kinds)
    for (int64_t length = 0; length <= 64; ++length)
      for (int64_t ring = 1; ring <= 9; ++ring)
        for (int64_t split = 1; split <= 4; ++split) {
          Layout layout(kind, length, ring, split);
          SCOPED_TRACE(layout.str());
          check(layout);
        }
}

/// In blocks, together and apart.
inline void
forBlockedLayouts(const std::function<void(const Layout &)> &check) {
  for (LayoutKind kind : kinds)
    for (int64_t ring = 1; ring <= 4; ++ring)
      for (int64_t split = 1; split <= 3; ++split)
        for (int64_t blocks = 2; blocks <= 3; ++blocks)
          for (int64_t size = 1; size <= 2; ++size)
            for (bool apart : {false, true})
              for (int64_t less = 0; less <= 9; less += 3) {
                int64_t whole =
                    size * blocks * Layout::granule(kind, ring, split);
                if (less > whole)
                  continue;
                Layout layout(kind, whole - less, ring, split,
                              less == 0 ? 0 : whole, {blocks, apart});
                SCOPED_TRACE(layout.str());
                check(layout);
              }
}

/// The same, and of at most 20 positions the layouts of the first ones.
inline void forSmallLayouts(const std::function<void(const Layout &)> &check) {
  forBlockedLayouts(check);
  forWholeLayouts([&](const Layout &whole) {
    check(whole);
    for (int64_t length = 0; whole.length() <= 20 && length < whole.length();
         ++length) {
      Layout layout(whole.kind(), length, whole.ring(), whole.split(),
                    whole.length());
      SCOPED_TRACE(layout.str());
      check(layout);
    }
  });
}

/// Deals positions by the definition: block by block, chunk by chunk or one by
/// one, and leaves out those that the layout does not have.
inline std::vector<std::vector<int64_t>> deal(const Layout &layout);

inline std::vector<std::vector<int64_t>> dealBlocks(const Layout &layout) {
  auto [count, apart] = layout.blocks();
  int64_t size = layout.within() / count;
  std::vector<std::vector<int64_t>> result(size_t(layout.ranks()));
  auto block = deal(Layout(layout.kind(), size, layout.ring(), layout.split()));
  for (int64_t number = 0; number < count; ++number)
    for (size_t owner = 0; owner < block.size(); ++owner)
      for (int64_t position : block[owner])
        if (number * size + position < layout.length())
          result[owner + (apart ? size_t(number) * block.size() : 0)].push_back(
              number * size + position);
  return result;
}

inline std::vector<std::vector<int64_t>> deal(const Layout &layout) {
  if (layout.blocks().count > 1)
    return dealBlocks(layout);
  auto cut = [](const std::vector<int64_t> &rows, int64_t parts) {
    std::vector<std::vector<int64_t>> result(static_cast<size_t>(parts));
    size_t next = 0;
    for (int64_t part = 0; part < parts; ++part) {
      size_t size = rows.size() / size_t(parts) +
                    (size_t(part) < rows.size() % size_t(parts));
      for (size_t i = 0; i < size; ++i)
        result[size_t(part)].push_back(rows[next++]);
    }
    return result;
  };
  std::vector<int64_t> positions(size_t(layout.within()));
  std::iota(positions.begin(), positions.end(), 0);
  size_t ring = size_t(layout.ring());
  std::vector<std::vector<int64_t>> owners(ring);
  if (layout.kind() == LayoutKind::contiguous)
    owners = cut(positions, layout.ring());
  if (layout.kind() == LayoutKind::striped)
    for (int64_t position : positions)
      owners[size_t(position) % ring].push_back(position);
  if (layout.kind() == LayoutKind::zigzag) {
    auto chunks = cut(positions, 2 * layout.ring());
    for (size_t owner = 0; owner < ring; ++owner) {
      owners[owner] = chunks[owner];
      const std::vector<int64_t> &mirror = chunks[2 * ring - 1 - owner];
      owners[owner].insert(owners[owner].end(), mirror.begin(), mirror.end());
    }
  }
  std::vector<std::vector<int64_t>> result;
  for (const std::vector<int64_t> &rows : owners)
    for (std::vector<int64_t> &part : cut(rows, layout.split())) {
      part.erase(std::remove_if(part.begin(), part.end(),
                                [&](int64_t position) {
                                  return position >= layout.length();
                                }),
                 part.end());
      result.push_back(std::move(part));
    }
  return result;
}

} // namespace sprt::algebra

#endif // SP_TEST_ALGEBRA_LAYOUTDEALING_H
