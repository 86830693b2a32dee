/// The cheapest set of vertices that separates sources from targets.
///
/// Each vertex has a weight; a way from a source to a target must meet one of
/// the set, which may be a source or a target itself. Minimum cuts by maximum
/// flows: Edmonds and Karp, 1972, on vertices split in two.
#ifndef SP_LIB_SCHEDULE_VERTEXCUT_H
#define SP_LIB_SCHEDULE_VERTEXCUT_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace mlir::sp {

class VertexCut {
public:
  static constexpr int64_t kNever = INT64_MAX / 4;

  /// The number of a new vertex; one of weight `kNever` is not cut.
  unsigned add(int64_t weight);
  void connect(unsigned from, unsigned to) {
    addArc(outOf(from), intoOf(to), kNever);
  }
  void setSource(unsigned vertex) { addArc(kSource, intoOf(vertex), kNever); }
  void setTarget(unsigned vertex) { addArc(outOf(vertex), kTarget, kNever); }

  /// The numbers of the set's vertices, the nearest to the targets that cost
  /// the least; nothing where every set would have a vertex that is not cut.
  std::vector<unsigned> find();

private:
  static constexpr unsigned kSource = 0, kTarget = 1;
  struct Arc {
    unsigned to;
    int64_t capacity;
  };

  static unsigned intoOf(unsigned vertex) { return 2 + 2 * vertex; }
  static unsigned outOf(unsigned vertex) { return 3 + 2 * vertex; }
  void addArc(unsigned from, unsigned to, int64_t capacity);
  bool augment();

  /// Arcs in pairs: one and its reverse.
  std::vector<Arc> arcs;
  std::vector<llvm::SmallVector<unsigned>> arcsFrom{2};
  int64_t flow = 0;
};

} // namespace mlir::sp

#endif // SP_LIB_SCHEDULE_VERTEXCUT_H
