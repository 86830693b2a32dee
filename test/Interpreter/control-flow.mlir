// RUN: sp-interpret %s | FileCheck %s

func.func private @twice(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %x, %x : tensor<i32>
  return %0 : tensor<i32>
}

func.func private @sum_impl(%x: tensor<3xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @main() -> (tensor<4xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<4xi32>
  // The body sees %one and %four from around it; the stack is updated in place.
  // CHECK: result0: tensor<4xi32> [0, 2, 4, 6]
  // CHECK-NEXT: result1: tensor<i32> [4]
  %loop:2 = stablehlo.while(%stack = %start, %i = %zero) : tensor<4xi32>, tensor<i32>
    cond {
      %0 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %0 = func.call @twice(%i) : (tensor<i32>) -> tensor<i32>
      %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
      %2 = stablehlo.dynamic_update_slice %stack, %1, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %3 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %3 : tensor<4xi32>, tensor<i32>
    }
  // An index without a branch takes the last one.
  // CHECK-NEXT: result2: tensor<i32> [1]
  %index = stablehlo.constant dense<-7> : tensor<i32>
  %case = "stablehlo.case"(%index) ({
    stablehlo.return %four : tensor<i32>
  }, {
    stablehlo.return %one : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: result3: tensor<i32> [8]
  %true = stablehlo.constant dense<true> : tensor<i1>
  %if = "stablehlo.if"(%true) ({
    %0 = func.call @twice(%four) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }, {
    stablehlo.return %one : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  %values = stablehlo.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  // CHECK-NEXT: result4: tensor<f64> [7]
  %composite = stablehlo.composite "lib.sum" %values {decomposition = @sum_impl} : (tensor<3xf32>) -> tensor<f32>
  // CHECK-NEXT: result5: tensor<f64> [0.5204998778130465]
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %erf = stablehlo.custom_call @mhlo.erf(%half) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: result6: tensor<i32> [4]
  %barrier = stablehlo.optimization_barrier %four : tensor<i32>
  %same = stablehlo.custom_call @Sharding(%barrier) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<i32>) -> tensor<i32>
  return %loop#0, %loop#1, %case, %if, %composite, %erf, %same : tensor<4xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<i32>
}
