/// What a score function gives where a query and a key differ in a term each.
#ifndef SP_LIB_IMPORT_HIDDENPAIRS_H
#define SP_LIB_IMPORT_HIDDENPAIRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// Whether a score function hides every pair (its exponent is -inf) for which
/// the whole numbers in these two arguments are different. What it does not
/// know of other arguments may be anything; to -inf anything may be added.
bool hidesUnlessEqual(func::FuncOp score, unsigned ofQuery, unsigned ofKey);

/// Whether a conversion between types of whole numbers keeps every value.
bool keepsWholeNumbers(Type from, Type to);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_HIDDENPAIRS_H
