#include "walk/HomeTurns.h"

#include "program/LayoutOf.h"

namespace sprt {

Status goesHome(const Program &program, const plan::SendRecvT &transfer,
                const Scope &scope, bool &out_goesHome) {
  out_goesHome = false;
  if (!transfer.needs || transfer.sends.empty())
    return Status::success();
  const plan::NeedsT &needs = *transfer.needs;
  const plan::FactorT &ring = *program.plan->factors[needs.factor];
  int64_t owner = 0, to = 0;
  if (Status failure =
          evaluate(*transfer.sends.front()->rows->owner, scope, owner))
    return failure;
  if (Status failure = evaluate(*transfer.to, scope, to))
    return failure;
  algebra::RingWay way = wayOf(needs, (*scope.layouts)[needs.queries], owner);
  out_goesHome = way.hopsTo(owner, to / ring.stride % ring.size) == 0;
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
