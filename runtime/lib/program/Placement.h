/// Between global arrays and the rows that ranks hold.
#ifndef SPRT_LIB_PROGRAM_PLACEMENT_H
#define SPRT_LIB_PROGRAM_PLACEMENT_H

#include "program/Program.h"

namespace sprt {

/// Where the elements of one rank's part of an input or result lie, in the
/// local buffer and in the global array.
class Placement {
public:
  /// Evaluates the owners of the parameter's atoms for one rank.
  static Status create(const Program &program, const Bindings &bindings,
                       const ParameterInfo &info, int64_t rank,
                       Placement &out_placement);

  /// Fills `part`, which is `size` bytes of the local buffer from `first` on;
  /// padding becomes zero.
  void scatter(const std::byte *global, std::byte *part, int64_t first,
               int64_t size) const;
  /// Copies the valid bytes of such a part to their places.
  void gather(const std::byte *part, int64_t first, int64_t size,
              std::byte *global) const;

  int64_t localBytes() const { return bytes; }
  /// Which owner of each sharded atom the rank is: ranks with equal owners hold
  /// the same elements.
  const std::vector<int64_t> &owners() const { return ownerOf; }

private:
  template <typename Visit>
  void forEachRun(int64_t first, int64_t size, const Visit &visit) const;
  /// Which dimension's index says the row of the batch, if rows of `count` are
  /// dealt each in its way.
  static Status findRows(const Program &program, const ParameterInfo &info,
                         int64_t count, int &out_dim);

  /// Global index of every local index, -1 for padding.
  using Indices = std::vector<int64_t>;
  /// By row of the batch, or for all rows, of each leading dimension.
  std::vector<std::vector<Indices>> indices;
  int rowDim = -1;
  std::vector<int64_t> globalStrides; ///< bytes
  int64_t runBytes = 0; ///< of the trailing dimensions, which are whole
  int64_t bytes = 0;
  std::vector<int64_t> ownerOf;
};

/// Of a result: for each rank whether it is the first that holds its part.
Status firstHolders(const Program &program, const ParameterInfo &info,
                    std::vector<bool> &out_first);

/// Whether every rank holds the same elements of both, in the same order.
Status dealtAlike(const Program &program, const ParameterInfo &a,
                  const ParameterInfo &b, bool &out_alike);

/// The first rank that computes an element, given by its row-major number.
Status rankOfElement(const Program &program, const ParameterInfo &info,
                     int64_t element, int64_t &out_rank);

/// The layout by which the documents of a run deal its inputs, and whose rows a
/// rank has of it; null where there is none.
Status findShare(const Program &program, const Binding &bound, int64_t rank,
                 const algebra::Layout *&out_layout, int64_t &out_owner);

/// Whether the documents of a run say which rank has what of it.
bool isDealtByBatch(const Program &program, const ParameterInfo &info);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_PLACEMENT_H
