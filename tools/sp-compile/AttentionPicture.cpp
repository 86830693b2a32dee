//===- AttentionPicture.cpp - The attentions of a program -----------------===//

#include "AttentionPicture.h"

#include "AttentionSquare.h"
#include "MemoryKinds.h"

#include "sp/Plan/Strategies.h"

using namespace mlir;
using namespace mlir::sp;
namespace algebra = sprt::algebra;
using sprt::tools::Point;
using sprt::tools::Svg;

namespace {

/// What is drawn, and how large, in pixels.
struct Limits {
  static constexpr size_t kAttentions = 8;
  static constexpr int64_t kMembers = 8; ///< squares of parts of the heads
  static constexpr int64_t kRanks = 16;  ///< in a legend
  static constexpr double kSide = 420, kSmallSide = 220, kLeft = 90, kGap = 56;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

template <typename OpT>
static DrawnAttention drawnOf(OpT op, MeshOp mesh, bool queriesTravel) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                    v = op.getValue().getType().getShape();
  DrawnAttention drawn;
  drawn.name = op.getName().empty() ? "attention" : op.getName().str();
  drawn.location = shortSourceLine(op.getLoc());
  drawn.plan = *op.getPlan();
  drawn.bands = toAlgebra(op.getBands());
  drawn.queryLength = q[1];
  drawn.keyLength = v[1];
  drawn.heads = q[2];
  drawn.queriesTravel = queriesTravel;
  drawn.areHeadsDealt = headPartOf(mesh, q[2], v[2]) != nullptr;
  drawn.copies = mesh.getRanks() / drawn.plan.getRanks();
  return drawn;
}

static bool isAlike(const DrawnAttention &a, const DrawnAttention &b) {
  // What travels changes no more than who computes what.
  return a.plan.withQueriesTravel(false) == b.plan.withQueriesTravel(false) &&
         a.queriesTravel == b.queriesTravel && a.bands == b.bands &&
         a.queryLength == b.queryLength && a.keyLength == b.keyLength &&
         a.heads == b.heads;
}

SmallVector<DrawnAttention> mlir::sp::drawnAttentions(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  SmallVector<DrawnAttention> all;
  auto add = [&](DrawnAttention drawn, bool isForward) {
    auto known = llvm::find_if(
        all, [&](const DrawnAttention &each) { return isAlike(each, drawn); });
    DrawnAttention &counted =
        known == all.end() ? all.emplace_back(std::move(drawn)) : *known;
    ++(isForward ? counted.forward : counted.backward);
  };
  module.walk([&](Operation *op) {
    if (auto forward = dyn_cast<AttentionOp>(op))
      add(drawnOf(forward, mesh, false), true);
    if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
      PlanAttr plan = *backward.getPlan();
      add(drawnOf(backward, mesh,
                  plan.getQueriesTravel() && plan.getRing() > 1),
          false);
    }
  });
  return all;
}

//===----------------------------------------------------------------------===//
// Texts around squares
//===----------------------------------------------------------------------===//

/// "layer0 (model.py:12) and 3 alike, and gradients of 4".
static std::string titleOf(const DrawnAttention &drawn) {
  std::string text = drawn.forward == 0 ? "gradients of " : "";
  text += drawn.name;
  if (!drawn.location.empty())
    text += " (" + sprt::tools::shortened(drawn.location, 60) + ")";
  int64_t first = drawn.forward == 0 ? drawn.backward : drawn.forward;
  if (first > 1)
    text += " and " + std::to_string(first - 1) + " alike";
  if (drawn.forward > 0 && drawn.backward > 0)
    text += ", and gradients of " + (drawn.backward == 1 && drawn.forward == 1
                                         ? std::string("it")
                                         : std::to_string(drawn.backward));
  return text;
}

/// "query heads 4 to 7".
static std::string headsOf(const DrawnAttention &drawn, int64_t member) {
  int64_t members = drawn.plan.getHeads();
  if (drawn.areHeadsDealt || drawn.plan.getGroups() > 1)
    return "part " + std::to_string(member + 1) + " of " +
           std::to_string(members) + " of the heads";
  algebra::Layout heads = toAlgebra(drawn.plan.getHeadsLayout(drawn.heads));
  int64_t count = heads.count(member);
  if (count == 0)
    return "no heads";
  int64_t first = heads.toGlobal(member, 0);
  return count == 1 ? "query head " + std::to_string(first)
                    : "query heads " + std::to_string(first) + " to " +
                          std::to_string(first + count - 1);
}

static double drawLegend(const DrawnAttention &drawn,
                         const AttentionSteps &steps, Point at, Svg &svg) {
  int64_t ranks = steps.owners() * steps.members();
  double x = at.x, y = at.y;
  std::string axis = drawn.plan.getAxis().getName().str();
  std::string name = drawn.copies > 1 ? axis + " " : "rank ";
  auto entry = [&](int64_t rank) {
    if (x > at.x + 600) {
      x = at.x;
      y += 20;
    }
    x = svg.legend({x, y}, colourOfStep(steps, rank, steps.steps() / 2),
                   name + std::to_string(rank));
  };
  if (ranks <= Limits::kRanks)
    for (int64_t rank = 0; rank < ranks; ++rank)
      entry(rank);
  else
    for (int64_t i = 0; i <= 8; ++i)
      entry(i * (ranks - 1) / 8);
  y += 30;
  std::string text;
  if (steps.steps() > 1)
    text = std::string(describeSamples(steps).empty() ? "number and shade"
                                                      : "shade") +
           ": the step in which the rank computes, 0 to " +
           std::to_string(steps.steps() - 1) + "; ";
  svg.text({at.x, y}, text + "grey: hidden by the mask");
  return y + 12;
}

static double drawAttention(const DrawnAttention &drawn, double top, Svg &svg) {
  std::string mask = drawn.bands.name(drawn.queryLength, drawn.keyLength);
  double y = top + 14;
  svg.text({16, y}, titleOf(drawn), {14, "start", true});
  y += 19;
  svg.text({16, y}, mask + " mask, " + std::to_string(drawn.queryLength) +
                        " queries x " + std::to_string(drawn.keyLength) +
                        " keys, " + std::to_string(drawn.heads) + " heads; " +
                        textOf(drawn.plan) +
                        (drawn.queriesTravel ? "; queries travel" : "") +
                        (drawn.copies > 1
                             ? "; the same on " + std::to_string(drawn.copies) +
                                   " such groups of ranks"
                             : ""));
  if (toAlgebra(drawn.plan.getRows(drawn.queryLength)).holds()) {
    svg.text({16, y + 19},
             "which rank has which documents is known when a run has its "
             "batch: sp-run --batch-report, spmlir.draw_batch");
    return y + 30;
  }
  AttentionSteps steps(drawn.plan, drawn.bands, drawn.queryLength,
                       drawn.keyLength, drawn.queriesTravel);
  if (std::string remark = describeSamples(steps); !remark.empty()) {
    y += 17;
    svg.text({16, y}, remark, {11});
  }
  int64_t members = std::min(steps.members(), Limits::kMembers);
  double side = members == 1 ? Limits::kSide : Limits::kSmallSide;
  double caption = members == 1 ? 0 : 18;
  y += 44 + caption;
  svg.beginGroup("attention",
                 {{{"name", drawn.name},
                   {"forward", std::to_string(drawn.forward)},
                   {"backward", std::to_string(drawn.backward)},
                   {"ranks", std::to_string(steps.owners() * steps.members())}},
                  ""});
  for (int64_t member = 0; member < members; ++member) {
    if (member > 0 && member % 3 == 0)
      y += side + Limits::kGap + caption;
    Point corner = {Limits::kLeft + double(member % 3) * (side + Limits::kLeft),
                    y};
    if (members > 1)
      svg.text({corner.x + side / 2, corner.y - 38}, headsOf(drawn, member),
               {12, "middle", true});
    drawSquare(steps, member, corner, side, svg);
  }
  svg.endGroup();
  y += side + 16;
  if (steps.members() > members) {
    svg.text({Limits::kLeft, y + 6},
             "and " + std::to_string(steps.members() - members) +
                 " more parts of the heads, alike");
    y += 20;
  }
  return drawLegend(drawn, steps, {Limits::kLeft, y}, svg);
}

double mlir::sp::drawAttentions(ArrayRef<DrawnAttention> attentions, double top,
                                Svg &svg) {
  if (attentions.empty()) {
    svg.text({16, top + 14}, "no attention was found: --explain says why",
             {14, "start", true});
    return top + 28;
  }
  for (const DrawnAttention &drawn : attentions.take_front(Limits::kAttentions))
    top = drawAttention(drawn, top, svg) + 24;
  if (attentions.size() > Limits::kAttentions) {
    svg.text({16, top},
             "and " + std::to_string(attentions.size() - Limits::kAttentions) +
                 " more kinds of attention");
    top += 24;
  }
  return top;
}
