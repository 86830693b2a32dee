//===- StableHLOOps.td - All of the stablehlo dialect ---------------------===//

include "sp/StableHLO/StableHLOContraction.td"
include "sp/StableHLO/StableHLOControl.td"
include "sp/StableHLO/StableHLOShape.td"
