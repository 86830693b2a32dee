// One change inside an attention makes another function: it is taken as what it
// then is, or not at all.

// RUN: sp-opt %s --sp-import-pipeline | FileCheck %s --check-prefix=CAUSAL
// RUN: sed 's/compare GE/compare GT/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=STRICT
// RUN: sed 's/compare GE/compare LE/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=UPPER
// RUN: sed 's/compare GE/compare EQ/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=DIAGONAL
// RUN: sed 's/compare GE/compare NE/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=OTHERS
// RUN: sed 's/dense<0>/dense<2>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=OFFSET
// RUN: sed 's/%%scaled, %%hidden/%%hidden, %%scaled/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=SWAPPED
// RUN: sed 's/dense<-1.0e+30>/dense<-2.0e+30>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=CAUSAL
// RUN: sed 's/dense<-1.0e+30>/dense<0xFF800000>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=CAUSAL
// RUN: sed 's/dense<4.0>/dense<8.0>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=EIGHTH
// RUN: sed 's/subtract %%seen/add %%seen/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=CAUSAL
// RUN: sed 's/maximum across/minimum across/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/dense<-1.0e+30>/dense<-8.0e+02>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=SCORE
// RUN: sed 's/%%seen, %%maxima/%%seen, %%seen/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=SCORE
// RUN: sed 's/divide %%same/multiply %%same/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/divide %%same, %%sums/divide %%sums, %%same/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/add across/maximum across/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/add across dimensions = .3./add across dimensions = [2]/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/exponential %%shifted/logistic %%shifted/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/convert %%weights/exponential %%weights/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/.1. x .3. :/[1] x [2] :/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/dense<0.0>/dense<1.0>/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/multiply %%used, %%one/multiply %%used, %%used/' %s | sp-opt --sp-import-pipeline | FileCheck %s --check-prefix=NONE

// CAUSAL: sp.attention({{.*}}) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 2.500000e-01 {
// STRICT: sp.attention({{.*}}) bands [#sp.band<q 0 to 1, k 0 to 6, lo -inf, hi inf{{ ?}}, uniform>, #sp.band<q 1 to 6, k 0 to 5, lo -inf, hi -1{{ ?}}>] scale 2.500000e-01 empty{{ +}}mean
// UPPER: sp.attention({{.*}}) bands [#sp.band<q 0 to 6, k 0 to 6, lo 0, hi inf{{ ?}}>] scale 2.500000e-01 {
// DIAGONAL: sp.attention({{.*}}) bands [#sp.band<q 0 to 6, k 0 to 6, lo 0, hi 0{{ ?}}>] scale 2.500000e-01 {
// OTHERS: sp.attention({{.*}}) bands [#sp.band<q 0 to 5, k 1 to 6, lo 1, hi inf{{ ?}}>, #sp.band<q 1 to 6, k 0 to 5, lo -inf, hi -1{{ ?}}>] scale 2.500000e-01 {
// OFFSET: sp.attention({{.*}}) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 2{{ ?}}>] scale 2.500000e-01 {
// SWAPPED: sp.attention({{.*}}) bands [#sp.band<q 0 to 5, k 1 to 6, lo 1, hi inf{{ ?}}>, #sp.band<q 5 to 6, k 0 to 6, lo -inf, hi inf{{ ?}}, uniform>] scale 2.500000e-01 empty{{ +}}mean
// EIGHTH: sp.attention({{.*}}) bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi 0{{ ?}}>] scale 1.250000e-01 {
// A fill that scores can reach hides nothing, and scores less themselves are 0:
// what is not a mask is a score.
// SCORE: sp.attention({{.*}}) score @score_0 bands [#sp.band<q 0 to 6, k 0 to 6, lo -inf, hi inf>] scale 1.000000e+00 {
// NONE-NOT: sp.attention
// NONE: return

func.func public @main(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32> {
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
  %four = stablehlo.constant dense<4.0> : tensor<2x4x6x6xf32>
  %scaled = stablehlo.divide %scores, %four : tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %offset = stablehlo.constant dense<0> : tensor<6x6xi32>
  %last = stablehlo.add %i, %offset : tensor<6x6xi32>
  %j = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %pairs = stablehlo.compare GE, %last, %j, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %mask = stablehlo.broadcast_in_dim %pairs, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
  %hidden = stablehlo.constant dense<-1.0e+30> : tensor<2x4x6x6xf32>
  %seen = stablehlo.select %mask, %scaled, %hidden : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %infinite = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%seen init: %infinite) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxima = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %shifted = stablehlo.subtract %seen, %maxima : tensor<2x4x6x6xf32>
  %weights = stablehlo.exponential %shifted : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%weights init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %same = stablehlo.convert %weights : tensor<2x4x6x6xf32>
  %used = stablehlo.divide %same, %sums : tensor<2x4x6x6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2x4x6x6xf32>
  %kept = stablehlo.multiply %used, %one : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %v, %kept, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x4x8xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x8x6xf32>
  return %o : tensor<2x4x8x6xf32>
}
