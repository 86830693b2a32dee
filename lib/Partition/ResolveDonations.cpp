//===- ResolveDonations.cpp - Which result becomes which argument ---------===//
//
//   before   func @main(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32}, ...)
//   after    func @main(%w: tensor<4xf32> {sp.donated_to = 1 : i64}, ...)
//
// JAX names the result where it knows it, and else says `jax.buffer_donor`: the
// argument is then given to the first free result of its type, if there is one.
//
//===----------------------------------------------------------------------===//

#include "Sharding/CheckInput.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/Partition/ParameterRoles.h"
#include "sp/Partition/Passes.h"

#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-resolve-donations"

namespace mlir::sp {
#define GEN_PASS_DEF_RESOLVEDONATIONSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

constexpr StringLiteral kAliasing = "tf.aliasing_output";
constexpr StringLiteral kDonor = "jax.buffer_donor";

struct ResolveDonationsPass
    : mlir::sp::impl::ResolveDonationsPassBase<ResolveDonationsPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    takers.assign(func->getNumResults(), BlockArgument());
    for (BlockArgument argument : func->getArguments())
      if (failed(resolveNamed(*func, argument)))
        return signalPassFailure();
    for (BlockArgument argument : func->getArguments())
      resolveDonor(*func, argument);
    findCaches(*func);
  }

  /// An argument whose result is named.
  LogicalResult resolveNamed(func::FuncOp func, BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    StringRef name =
        func.getArgAttr(number, kDonatedTo) ? kDonatedTo : kAliasing;
    Attribute named = func.getArgAttr(number, name);
    if (!named)
      return success();
    auto fail = [&] {
      return emitError(argument.getLoc())
             << "expected argument " << number << " to be donated for ";
    };
    auto integer = dyn_cast<IntegerAttr>(named);
    int64_t result = integer ? integer.getValue().getSExtValue() : -1;
    if (result < 0 || result >= func.getNumResults())
      return fail() << "one of the " << func.getNumResults() << " results but '"
                    << name << "' is " << named;
    Type type = func.getResultTypes()[result];
    if (type != argument.getType())
      return fail() << "a result of its type, " << argument.getType()
                    << ", but result " << result << " is " << type;
    if (BlockArgument other = takers[result]) {
      InFlightDiagnostic diagnostic =
          fail() << "a result of its own but result " << result
                 << " takes argument " << other.getArgNumber();
      diagnostic.attachNote(other.getLoc())
          << "argument " << other.getArgNumber() << " is donated here";
      return diagnostic;
    }
    take(func, argument, result);
    return success();
  }

  void resolveDonor(func::FuncOp func, BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    if (!func.getArgAttr(number, kDonor))
      return;
    func.removeArgAttr(number, kDonor);
    if (func.getArgAttr(number, kDonatedTo))
      return;
    for (int64_t result = 0; result < func.getNumResults(); ++result)
      if (!takers[result] &&
          func.getResultTypes()[result] == argument.getType())
        return take(func, argument, result);
    remark::missed(
        argument.getLoc(),
        remark::RemarkOpts::name("DonationUnused").category(DEBUG_TYPE))
        << "argument " << remark::metric("argument", number)
        << " is donated but no result of its type is left for it: it keeps its "
           "memory, and each step sees it as it was given";
  }

  void take(func::FuncOp func, BlockArgument argument, int64_t result) {
    unsigned number = argument.getArgNumber();
    takers[result] = argument;
    func.removeArgAttr(number, kAliasing);
    func.setArgAttr(number, kDonatedTo,
                    Builder(&getContext()).getI64IntegerAttr(result));
  }

  SmallVector<BlockArgument> takers; ///< by result
};

} // namespace

#undef DEBUG_TYPE
