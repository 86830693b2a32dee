#include "walk/GroupTurns.h"

namespace sprt {

Status goesHome(const Program &program, const plan::SendRecvT &transfer,
                const Scope &scope, bool &out_goesHome) {
  out_goesHome = false;
  if (!transfer.needs || transfer.sends.empty() ||
      (*scope.layouts)[transfer.needs->queries].kind() !=
          algebra::LayoutKind::batch)
    return Status::success();
  const plan::FactorT &ring = *program.plan->factors[transfer.needs->factor];
  int64_t owner = 0, to = 0;
  if (Status failure =
          evaluate(*transfer.sends.front()->rows->owner, scope, owner))
    return failure;
  if (Status failure = evaluate(*transfer.to, scope, to))
    return failure;
  out_goesHome = to / ring.stride % ring.size == owner;
  return Status::success();
}

Status leaveOutHome(const Program &program, const plan::SendRecvT &transfer,
                    const std::vector<int64_t> &coordinates,
                    LoopBounds &loops) {
  if (loops.empty())
    return Status::success();
  std::vector<int64_t> last = firstTurn(loops);
  auto &[lower, upper] = loops.back();
  last.back() = upper - 1;
  bool isHome = false;
  Status failure =
      goesHome(program, transfer,
               {&coordinates, &last, &program.bindings.whole.layouts}, isHome);
  upper -= isHome;
  return failure;
}

} // namespace sprt
