//===- Report.cpp - What a compilation made, for programs -----------------===//

#include "Report.h"

#include "Decisions.h"
#include "sprt/sprt.h"

#include "sp/IR/PlacedValues.h"
#include "sp/Plan/AttentionCost.h"
#include "sp/Plan/Strategies.h"

#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;

/// What a score function reads: "function of per-key i1, pair f32".
template <typename OpT> static std::string describeScores(OpT op) {
  if (!op.getScore())
    return "scaled";
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [term, kind] :
       llvm::zip_equal(op.getTerms(), op.getTermKinds().getKinds())) {
    std::string name = stringifyTermKind(kind).str();
    std::replace(name.begin(), name.end(), '_', '-');
    stream << (text.empty() ? " of " : ", ") << name << " "
           << cast<RankedTensorType>(term.getType()).getElementType();
  }
  if constexpr (std::is_same_v<OpT, AttentionOp>)
    if (op.getSink())
      text += ", with a sink";
  return "function" + text;
}

/// Which keys each query sees, from its own position on; null where positions
/// say more than that.
template <typename OpT> static json windowOf(OpT op) {
  auto between = toAlgebra(op.getBands())
                     .diagonals(op.getQuery().getType().getDimSize(1),
                                op.getKey().getType().getDimSize(1));
  if (!between)
    return nullptr;
  return {between->first, between->second};
}

namespace {
/// Costs of attentions, of which models have many that are alike.
class Costs {
public:
  const std::vector<AttentionCost> &of(const CountedAttention &op,
                                       PlanAttr plan, int64_t batch) {
    SmallVector<int64_t> key = op.key();
    key.push_back(reinterpret_cast<intptr_t>(plan.getAsOpaquePointer()));
    key.push_back(batch);
    auto [known, isNew] = costs.try_emplace(std::move(key));
    if (isNew)
      known->second = attentionCosts(op, plan, batch);
    return known->second;
  }

private:
  std::map<SmallVector<int64_t>, std::vector<AttentionCost>> costs;
};
} // namespace

/// What is said of an attention and of its gradients alike.
template <typename OpT>
static json describe(OpT op, MeshOp mesh, PlanAttr plan, Costs &known) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(),
                    v = op.getValue().getType().getShape();
  json area = json::array(), bytes = json::array();
  int64_t stride = mesh.getRanks(), ranks = mesh.getAxisSize(plan.getAxis());
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    stride /= axis.getSize();
    if (axis.getName() == plan.getAxis().getName())
      break;
  }
  // Padding of an uneven batch is exchanged as well as the rest.
  int64_t batch = llvm::divideCeil(q[0], mesh.getAxisSize(mesh.getBatch()));
  CountedAttention ofRank(op, headPartOf(mesh, q[2], v[2]));
  const std::vector<AttentionCost> &costs = known.of(ofRank, plan, batch);
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    const AttentionCost &cost = costs[(rank / stride) % ranks % costs.size()];
    area.push_back(cost.area);
    bytes.push_back(cost.bytesSent);
  }
  return {{"name", op.getName()},
          {"location", describeLocation(op.getLoc())},
          {"batch", q[0]},
          {"queryHeads", q[2]},
          {"kvHeads", v[2]},
          {"queryLength", q[1]},
          {"kvLength", v[1]},
          {"headSize", q[3]},
          {"valueSize", v[3]},
          {"mask", toAlgebra(op.getBands()).name(q[1], v[1])},
          {"window", windowOf(op)},
          {"documents", op.getDocumentsAttr() != nullptr},
          {"scores", describeScores(op)},
          {"direction", "forward"},
          {"strategy", strategyOf(plan).name},
          {"heads", plan.getHeads()},
          {"outer", plan.getOuter()},
          {"inner", plan.getInner()},
          {"headGroups", plan.getGroups()},
          {"turns", plan.getTurns()},
          {"bidirectional", plan.getBidirectional()},
          {"layout", stringifyLayoutKind(plan.getLayout())},
          {"placement", plan.getPlacement() == Placement::HeadFirst
                            ? "head-first"
                            : "context-first"},
          {"areaPerRank", area},
          {"bytesSentPerRank", bytes}};
}

json mlir::sp::describeAttentions(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  json list = json::array();
  Costs costs;
  module.walk([&](Operation *op) {
    if (auto forward = dyn_cast<AttentionOp>(op))
      list.push_back(describe(forward, mesh, *forward.getPlan(), costs));
    if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
      PlanAttr plan = *backward.getPlan();
      list.push_back(describe(backward, mesh, plan, costs));
      json &described = list.back();
      described["direction"] = "backward";
      if (plan.getRing() == 1)
        return;
      described["travelling"] = plan.getQueriesTravel() ? "q" : "kv";
      if (hasTermsByQueries(backward))
        return;
      PlanAttr other = plan.withQueriesTravel(!plan.getQueriesTravel());
      described["bytesSentPerRankOtherwise"] =
          describe(backward, mesh, other, costs)["bytesSentPerRank"];
    }
  });
  return list;
}

int64_t mlir::sp::constantBytesOf(ModuleOp module) {
  return *bytesOf(module.lookupSymbol<func::FuncOp>("main"), Space::Constants);
}

FailureOr<json> mlir::sp::makeReport(ModuleOp module, json attentions,
                                     const EmittedProgram &program) {
  MeshOp meshOp = getMesh(module);
  json mesh = json::object(), bytes = json::array(), flops = json::array(),
       peak = json::array(), far = json::array(), read = json::array(),
       written = json::array();
  for (MeshAxisAttr axis : meshOp.getMesh().getAxes())
    mesh[axis.getName().str()] = axis.getSize();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  int64_t farBytes = *bytesOf(main, Space::Far);
  int64_t constantBytes = constantBytesOf(module);
  bool isExact = true;
  std::vector<sprt_prediction> predictions(
      meshOp.getRanks(), {sizeof(sprt_prediction), 0, 0, 0, 0, 0, 0, 0, 0});
  if (sprt_status *status = sprt_plan_predict(
          program.plan.data(), program.plan.size(), program.signatures.data(),
          program.signatures.size(), meshOp.getRanks(), predictions.data())) {
    module.emitError() << sprt_status_text(status);
    sprt_status_free(status);
    return failure();
  }
  for (const sprt_prediction &each : predictions) {
    bytes.push_back(each.bytes_sent);
    flops.push_back(each.flops);
    // The far memory of a GPU is there as a whole.
    far.push_back(program.isCuda ? farBytes : each.far_touched_bytes);
    read.push_back(each.far_read_bytes);
    written.push_back(each.far_written_bytes);
    peak.push_back(each.peak_bytes);
    isExact &= each.exact != 0;
  }
  json report{{"version", 1},
              {"tool", "sp-compile"},
              {"mesh", mesh},
              {"ranks", meshOp.getRanks()},
              {"target", program.isCuda ? "cuda" : "cpu"},
              {"attentions", std::move(attentions)},
              {"bytesSentPerRank", bytes},
              {"flopsPerRank", flops},
              {"peakBytesPerRank", peak},
              {"constantBytes", constantBytes},
              {"bytesAreExact", isExact}};
  if (farBytes > 0) {
    report["farPeakBytesPerRank"] = far;
    report["farReadPerRank"] = read;
    report["farWrittenPerRank"] = written;
  }
  return report;
}
