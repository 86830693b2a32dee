/// What a command is to those who run it, whatever its operands are.
#ifndef SPRT_LIB_PROGRAM_ROLE_H
#define SPRT_LIB_PROGRAM_ROLE_H

#include "sprt/plan_generated.h"

namespace sprt {

enum class Role {
  computes, ///< on this rank alone
  moves,    ///< data as they are, between ranks
  reduces,  ///< what ranks have, on their hosts
  loops,    ///< a body, so often as the plan says
  decides,  ///< by data which body comes next, or how often
};

/// Without a default, so that a new operation has its role before it compiles.
inline Role roleOf(plan::Operation operation) {
  switch (operation) {
  case plan::Operation::Launch:
  case plan::Operation::Attend:
  case plan::Operation::AttendBackward:
  case plan::Operation::Gemm:
  case plan::Operation::Copy:
  case plan::Operation::Fill:
  case plan::Operation::RowsTable:
  case plan::Operation::Sync:
  case plan::Operation::NONE:
    break;
  case plan::Operation::SendRecv:
  case plan::Operation::Exchange:
    return Role::moves;
  case plan::Operation::AllReduce:
  case plan::Operation::ReduceScatter:
    return Role::reduces;
  case plan::Operation::Loop:
    return Role::loops;
  case plan::Operation::While:
  case plan::Operation::Case:
    return Role::decides;
  }
  return Role::computes;
}

inline Role roleOf(const plan::CommandT &command) {
  return roleOf(command.operation.type);
}

/// Whether the command holds others.
inline bool isCompound(const plan::CommandT &command) {
  Role role = roleOf(command);
  return role == Role::loops || role == Role::decides;
}

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_ROLE_H
