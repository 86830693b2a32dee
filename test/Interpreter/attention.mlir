// RUN: sp-interpret %s --function=whole | FileCheck %s --check-prefix=WHOLE
// RUN: sp-interpret %s --function=empty_rows | FileCheck %s --check-prefix=EMPTY
// RUN: sp-interpret %s --function=scored | FileCheck %s --check-prefix=SCORED
// RUN: sp-interpret %s --function=hidden_value | FileCheck %s --check-prefix=HIDDEN
// RUN: sp-interpret %s --function=backward | FileCheck %s --check-prefix=BACKWARD
// RUN: sp-interpret %s --function=steps | FileCheck %s --check-prefix=STEPS
// RUN: sp-interpret %s --function=backward_steps | FileCheck %s --check-prefix=PARTS

sp.mesh @mesh <["sp" = 2]> sequence "sp"

// Scores are 0 and log 2, so that powers are 1 and 2: the first query sees the
// first key, the second gives (3 + 2 * 6) / 3.
// WHOLE: result0: tensor<1x2x1x1xf64> [3, 5]
// WHOLE: result1: tensor<1x2x1xf64> [0, 1.098612288668109
func.func @whole() -> (tensor<1x2x1x1xf64>, tensor<1x2x1xf64>) {
  %q = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf64>
  %k = stablehlo.constant dense<[[[[0.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = stablehlo.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %o, %lse = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi 0>] scale 0.69314718055994529
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>, tensor<1x2x1xf64>
  return %o, %lse : tensor<1x2x1x1xf64>, tensor<1x2x1xf64>
}

// A query without a key gives NaN or 0, with a sink 0. A sink of 0 is as a key
// of score 0 and value 0; a uniform band scores 0.
// EMPTY: result0: tensor<1x2x1x1xf64> [nan, 3]
// EMPTY: result1: tensor<1x2x1x1xf64> [0, 3]
// EMPTY: result2: tensor<1x2x1x1xf64> [0, 1.5]
// EMPTY: result3: tensor<1x2x1x1xf64> [4.5, 3]
// EMPTY: result4: tensor<1x2x1xf64> [-inf, 0]
func.func @empty_rows() -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>) {
  %q = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf64>
  %k = stablehlo.constant dense<[[[[0.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = stablehlo.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %s = stablehlo.constant dense<0.0> : tensor<1xf64>
  %nan, %lse = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi -1>] scale 1.0
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>, tensor<1x2x1xf64>
  %zero = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi -1>] scale 1.0 empty zero
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  %sink = sp.attention(%q, %k, %v) sink(%s : tensor<1xf64>) bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi -1>] scale 1.0
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  %mean = sp.attention(%q, %k, %v) bands [#sp.band<q 0 to 1, k 0 to 2, lo -inf, hi inf, uniform>, #sp.band<q 1 to 2, k 0 to 2, lo -inf, hi -1>] scale 1.0 empty mean
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  return %nan, %zero, %sink, %mean, %lse : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>
}

// The function hides the second key of the first query; what is left of the
// second query's two keys is as above, with half of the first one's weight.
// SCORED: result0: tensor<1x2x1x1xf64> [1.5, 4.5]
// SCORED: result1: tensor<1x2x1x2xf64> [0, 1, 0.6931471805599453, 1.5]
func.func @scored() -> (tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64>) {
  %q = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf64>
  %k = stablehlo.constant dense<0.0> : tensor<1x2x1x1xf64>
  %v = stablehlo.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %bias = stablehlo.constant dense<[[[[0.0]], [[0.69314718055994529]]]]> : tensor<1x2x1x1xf64>
  %weights = stablehlo.constant dense<[[0.5], [1.0]]> : tensor<2x1xf64>
  %o, %sums = sp.attention(%q, %k, %v) score @score per_key(%bias : tensor<1x2x1x1xf64>) table(%weights : tensor<2x1xf64>)
    bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi inf>] scale 1.0
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64>
  return %o, %sums : tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64>
}

// A model multiplies the value of a key that its score hides by 0.
// HIDDEN: result0: tensor<1x2x1x1xf64> [nan, nan]
func.func @hidden_value() -> tensor<1x2x1x1xf64> {
  %q = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = stablehlo.constant dense<[[[[3.0]], [[0x7FF8000000000000]]]]> : tensor<1x2x1x1xf64>
  %bias = stablehlo.constant dense<[[[[0.0]], [[0xFFF0000000000000]]]]> : tensor<1x2x1x1xf64>
  %weights = stablehlo.constant dense<1.0> : tensor<2x1xf64>
  %o = sp.attention(%q, %q, %v) score @score per_key(%bias : tensor<1x2x1x1xf64>) table(%weights : tensor<2x1xf64>)
    bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi inf>] scale 1.0
    : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  return %o : tensor<1x2x1x1xf64>
}

func.func private @score(%x: tensor<f64>, %head: tensor<i32>, %query: tensor<i32>, %key: tensor<i32>, %bias: tensor<f64>, %weights: tensor<2x1xf64>) -> (tensor<f64>, tensor<f64>) {
  %hidden = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %sees = stablehlo.compare GE, %query, %key, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %sum = stablehlo.add %x, %bias : tensor<f64>
  %e = stablehlo.select %sees, %sum, %hidden : tensor<i1>, tensor<f64>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.dynamic_slice %weights, %key, %zero, sizes = [1, 1] : (tensor<2x1xf64>, tensor<i32>, tensor<i32>) -> tensor<1x1xf64>
  %w = stablehlo.reshape %row : (tensor<1x1xf64>) -> tensor<f64>
  return %e, %w : tensor<f64>, tensor<f64>
}

// Weights of the second query are 1/3 and 2/3, its products with dO 3 and 6, of
// mean 5: gradients of scores are -2/3 log 2 and 2/3 log 2.
// BACKWARD: result0: tensor<1x2x1x1xf64> [0, 0.462098120373296{{.*}}]
// BACKWARD: result1: tensor<1x2x1x1xf64> [-0.462098120373296{{.*}}, 0.462098120373296{{.*}}]
// BACKWARD: result2: tensor<1x2x1x1xf64> [1.333333333333333{{.*}}, 0.666666666666666{{.*}}]
func.func @backward() -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = stablehlo.constant dense<1.0> : tensor<1x2x1x1xf64>
  %k = stablehlo.constant dense<[[[[0.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = stablehlo.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %o = stablehlo.constant dense<[[[[3.0]], [[5.0]]]]> : tensor<1x2x1x1xf64>
  %lse = stablehlo.constant dense<[[[0.0], [1.0986122886681098]]]> : tensor<1x2x1xf64>
  %dq, %dk, %dv = sp.attention_backward(%q, %k, %v) of(%o, %lse) by(%q) bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi 0>] scale 0.69314718055994529
    : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1x1xf64>)
    -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  return %dq, %dk, %dv : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}

// The same on two ranks: each query sees its own key, then that of the other.
// Greatest exponents of sums are in base 2, 0 and 1; 3 / 2 + 6 is the sum of
// values, 1 / 2 + 1 that of powers.
// STEPS: result0: tensor<1x2x1x1xf64> [3, 7.5]
// STEPS: result1: tensor<1x2x1x2xf64> [0, 1, 1, 1.5]
func.func @steps() -> (tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [2 by <contiguous 2 on "sp" of 2>], [1], [1]]>},
                       tensor<1x1x1x2xf64> {sp.sharding = #sp.sharding<[[1], [2 by <contiguous 2 on "sp" of 2>], [1], [2]]>}) {
  %q = stablehlo.constant dense<1.0> : tensor<1x1x1x1xf64>
  %p = sp.positions <contiguous 2 on "sp" of 2> : tensor<1xi32>
  %n = stablehlo.convert %p : (tensor<1xi32>) -> tensor<1xf64>
  %k = stablehlo.reshape %n : (tensor<1xf64>) -> tensor<1x1x1x1xf64>
  %three = stablehlo.constant dense<3.0> : tensor<1x1x1x1xf64>
  %more = stablehlo.multiply %three, %k : tensor<1x1x1x1xf64>
  %v = stablehlo.add %three, %more : tensor<1x1x1x1xf64>
  %r = sp.rank "sp" : index
  %other = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%r]
  %k1, %v1 = sp.shift %k, %v from %r by 1 in <contiguous 2 on "sp" of 2> : tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>
  %o0, %l0 = sp.attend(%q, %k, %v) queries <contiguous 2 on "sp" of 2> keys <contiguous 2 on "sp" of 2> from %r
    bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi 0>] scale 0.69314718055994529 as sums_base_2
    : (tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>
  %o1, %l1 = sp.attend(%q, %k1, %v1) onto(%o0, %l0) queries <contiguous 2 on "sp" of 2> keys <contiguous 2 on "sp" of 2> from %other
    bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi 0>] scale 0.69314718055994529 as sums_base_2
    : (tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>
  return %o1, %l1 : tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>
}

// Gradients of the second query and the first key, onto 1.
// PARTS: result0: tensor<1x2x1x1xf64> [1, 1]
// PARTS: result1: tensor<1x2x1x1xf64> [1, 0.537901879626703{{.*}}]
// PARTS: result2: tensor<1x2x1x1xf64> [1, 1.333333333333333{{.*}}]
func.func @backward_steps() -> (tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [2 by <contiguous 2 on "sp" of 2>], [1], [1]]>},
                                tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [2 by <contiguous 2 on "sp" of 2>], [1], [1]]>},
                                tensor<1x1x1x1xf64> {sp.sharding = #sp.sharding<[[1], [2 by <contiguous 2 on "sp" of 2>], [1], [1]]>}) {
  %q = stablehlo.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = stablehlo.constant dense<0.0> : tensor<1x1x1x1xf64>
  %v = stablehlo.constant dense<3.0> : tensor<1x1x1x1xf64>
  %lse = stablehlo.constant dense<1.0986122886681098> : tensor<1x1x1xf64>
  %delta = stablehlo.constant dense<5.0> : tensor<1x1x1xf64>
  %r = sp.rank "sp" : index
  %other = affine.apply affine_map<()[s0] -> ((s0 + 1) mod 2)>()[%r]
  %dq, %dk, %dv = sp.attend_backward(%q, %k, %v) of(%q, %lse, %delta) onto_query(%q) onto_keys(%q, %q)
    queries <contiguous 2 on "sp" of 2> keys <contiguous 2 on "sp" of 2> from %other
    bands [#sp.band<q 0 to 2, k 0 to 2, lo -inf, hi -1>] scale 0.69314718055994529
    : (tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>)
    -> (tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>)
  return %dq, %dk, %dv : tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x1xf64>
}
