//===- MeshProgram.h - One program on all devices of a mesh ----*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_MESHPROGRAM_H
#define SP_LIB_INTERPRETER_MESHPROGRAM_H

#include "Evaluator.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::interpreter {

/// The values of one operation on each device.
using PerDevice = std::vector<Tensors>;

/// Whether an operation exchanges values between devices.
bool isCollective(Operation *op);

/// What a collective gives to each device for the operands of all.
FailureOr<PerDevice> evaluateCollective(Operation *op, PerDevice operands,
                                        Evaluator &evaluator);

/// Evaluates the program of one device on all devices at once, operation by
/// operation, so that a collective finds the operands of every device.
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
  bool exchanges(Operation &op);

  Evaluator &evaluator;
  DenseMap<Operation *, bool> knownExchanges;
};

/// A manual computation on devices that hold its operands: each takes its
/// parts, and those that share a value put their results together.
FailureOr<PerDevice> evaluateManual(sdy::ManualComputationOp op,
                                    PerDevice operands, MeshProgram &program);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_MESHPROGRAM_H
