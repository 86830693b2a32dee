/// Parts of axes that users name, in one option or several.
///
/// Shardings meet where axes have factors that all parts are made of: with 12
/// ranks "sp:(1)2", "sp:(2)2" and "sp:(1)4", of the factors 2, 2 and 3. A
/// rank's coordinates along "sp:(1)2", r / 6, and along "sp:(1)3", r / 4, are
/// of no such factors: ranks that have the same part of one tensor have some of
/// each of the other.
#ifndef SP_LIB_PARTITION_NAMEDPARTS_H
#define SP_LIB_PARTITION_NAMEDPARTS_H

#include "sp/IR/SP.h"

namespace mlir::sp {

class NamedParts {
public:
  explicit NamedParts(MeshOp mesh) : mesh(mesh) {}

  /// Adds an axis or a part of one; an error where that and an earlier one have
  /// no such factors.
  LogicalResult add(AxisAttr axis,
                    function_ref<InFlightDiagnostic()> emitError);
  /// Adds what attributes name, if there are any, as they have been accepted.
  void note(DictionaryAttr attributes);

private:
  /// "sp:(1)2" and "sp:(4)3": what "sp:(2)2" of 12 ranks leaves of the axis.
  SmallVector<std::string> besides(AxisAttr part);

  MeshOp mesh;
  SmallVector<AxisAttr> parts;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_NAMEDPARTS_H
