//===- MeshProgram.h - One program on all devices of a mesh ----*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_MESHPROGRAM_H
#define SP_LIB_INTERPRETER_MESHPROGRAM_H

#include "Evaluator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::interpreter {

/// The values of one operation on each device.
using PerDevice = std::vector<Tensors>;

/// Whether an operation exchanges values between devices.
bool isCollective(Operation *op);

/// What a collective gives to each device for the operands of all.
FailureOr<PerDevice> evaluateCollective(Operation *op, PerDevice operands,
                                        Evaluator &evaluator);
/// The same for a communication of `sp`, in value form or started; a token is
/// no result.
FailureOr<PerDevice> evaluateExchange(Operation *op, const PerDevice &operands,
                                      Evaluator &evaluator);

/// Evaluates the program of one device on all devices at once, operation by
/// operation, so that a collective finds the operands of every device. What a
/// communication of `sp` starts is evaluated at once, but until its token is
/// awaited its results are unwritten.
class MeshProgram {
public:
  explicit MeshProgram(Evaluator &evaluator) : evaluator(evaluator) {}

  /// `arguments[device]` are the block's arguments there; `around`, where there
  /// is one, holds each device's values around the block.
  FailureOr<PerDevice> run(Block &block, PerDevice arguments,
                           std::vector<Scope> *around = nullptr);

private:
  FailureOr<PerDevice> evaluate(Operation &op, PerDevice operands,
                                std::vector<Scope> &scopes);
  /// Control flow around a collective: all devices take the same way.
  FailureOr<PerDevice> evaluateTogether(Operation &op, PerDevice operands,
                                        std::vector<Scope> &scopes);
  /// The value all devices give for a scalar that decides a way.
  FailureOr<int64_t> agree(Operation &op, const PerDevice &values);
  FailureOr<PerDevice> evaluateFor(scf::ForOp loop, PerDevice operands,
                                   std::vector<Scope> &scopes);
  bool exchanges(Operation &op);
  /// Holds back what a start gives, but for its types.
  void start(sp::CommunicationOpInterface op, PerDevice &results);
  /// Gives what a start held back to the block that waits for it.
  LogicalResult wait(sp::WaitOp op, std::vector<Scope> &scopes);

  Evaluator &evaluator;
  DenseMap<Value, PerDevice> started; ///< by token
  DenseMap<Operation *, bool> knownExchanges;
};

/// A manual computation on devices that hold its operands: each takes its
/// parts, and those that share a value put their results together.
FailureOr<PerDevice> evaluateManual(sdy::ManualComputationOp op,
                                    PerDevice operands, MeshProgram &program);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_MESHPROGRAM_H
