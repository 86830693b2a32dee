// The same numbers before Plan, and after each stage of each strategy.
// DEFINE: %{interpret} = sp-interpret - --random-inputs=1
// DEFINE: %{plan} = strategy=ring
// DEFINE: %{planned} = sp-opt %s --sp-plan-pipeline="mesh=sp=3 %{plan}"
// DEFINE: %{check} = %{planned} | %{interpret} | FileCheck %s && \
// DEFINE:   %{planned} --sp-partition-pipeline | %{interpret} | FileCheck %s && \
// DEFINE:   %{planned} --sp-partition-pipeline --sp-schedule-pipeline | %{interpret} | FileCheck %s && \
// DEFINE:   %{planned} --sp-partition-pipeline --sp-schedule-pipeline --sp-memory-pipeline | %{interpret} | FileCheck %s

// RUN: sp-interpret %s --random-inputs=1 | FileCheck %s
// RUN: %{check}
// REDEFINE: %{plan} = strategy=ring backward=q
// RUN: %{check}
// REDEFINE: %{plan} = strategy=ring bidirectional=true layout=striped backward=kv
// RUN: %{check}
// REDEFINE: %{plan} = strategy=ulysses
// RUN: %{check}
// REDEFINE: %{plan} = strategy=allgather layout=contiguous
// RUN: %{check}

// 5 rows on 3 ranks, 3 heads that read 2: sums of the result, and of squares of
// its gradients.
// CHECK: result0: tensor<3xf64> [-2.50141525275{{[0-9]*}}, -3.32383965002{{[0-9]*}}, -4.59777502395{{[0-9]*}}]
// CHECK: result1: tensor<2xf64> [0.12291247221{{[0-9]*}}, 0.05021642395{{[0-9]*}}]
// CHECK: result2: tensor<2xf64> [0.31194625620{{[0-9]*}}, 0.02907677229{{[0-9]*}}]
// CHECK: result3: tensor<2xf64> [10.94978077{{[0-9]*}}, 2.80495185182{{[0-9]*}}]
module {
  func.func @main(%q: tensor<1x5x3x2xf64>, %k: tensor<1x5x2x2xf64>, %v: tensor<1x5x2x2xf64>, %do: tensor<1x5x3x2xf64>)
      -> (tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
    %o, %lse = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 5, k 0 to 5, lo -inf, hi 0>] scale 0.5 {name = "a"}
      : tensor<1x5x3x2xf64>, tensor<1x5x2x2xf64>, tensor<1x5x2x2xf64> -> tensor<1x5x3x2xf64>, tensor<1x5x3xf64>
    %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%do) bands [#sp.band<q 0 to 5, k 0 to 5, lo -inf, hi 0>] scale 0.5 {name = "a"}
      : (tensor<1x5x3x2xf64>, tensor<1x5x2x2xf64>, tensor<1x5x2x2xf64>, tensor<1x5x3x2xf64>, tensor<1x5x3xf64>, tensor<1x5x3x2xf64>)
      -> (tensor<1x5x3x2xf64>, tensor<1x5x2x2xf64>, tensor<1x5x2x2xf64>)
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.reduce(%o init: %zero) applies stablehlo.add across dimensions = [0, 1, 3] : (tensor<1x5x3x2xf64>, tensor<f64>) -> tensor<3xf64>
    %1 = stablehlo.multiply %dq, %dq : tensor<1x5x3x2xf64>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x5x3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %3 = stablehlo.multiply %dk, %dk : tensor<1x5x2x2xf64>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x5x2x2xf64>, tensor<f64>) -> tensor<2xf64>
    %5 = stablehlo.multiply %dv, %dv : tensor<1x5x2x2xf64>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x5x2x2xf64>, tensor<f64>) -> tensor<2xf64>
    return %0, %2, %4, %6 : tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
  }
}
