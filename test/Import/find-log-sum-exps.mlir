// RUN: sp-opt %s --sp-find-log-sum-exps | FileCheck %s

// Shifted by the maximum of each row, where that is a number, as JAX prints it.

// CHECK-LABEL: func.func @shifted
// CHECK: %[[S:.*]] = stablehlo.dot_general
// CHECK: %[[L:.*]] = sp.log_sum_exp %[[S]] along 1 : tensor<8x8xf32> -> tensor<8xf32>
// CHECK: return %[[L]]
func.func @shifted(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %start = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
  %greatest = stablehlo.maximum %start, %max : tensor<8xf32>
  %finite = stablehlo.is_finite %greatest : (tensor<8xf32>) -> tensor<8xi1>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %m = stablehlo.select %finite, %greatest, %none : tensor<8xi1>, tensor<8xf32>
  %u = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %b = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %abs = stablehlo.abs %r : tensor<8xf32>
  %log = stablehlo.log %abs : tensor<8xf32>
  %l = stablehlo.add %log, %m : tensor<8xf32>
  return %l : tensor<8xf32>
}

// Another number is added than was subtracted.

// CHECK-LABEL: func.func @other
// CHECK-NOT: sp.log_sum_exp
// CHECK: return
func.func @other(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %n: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %start = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
  %greatest = stablehlo.maximum %start, %max : tensor<8xf32>
  %finite = stablehlo.is_finite %greatest : (tensor<8xf32>) -> tensor<8xi1>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %m = stablehlo.select %finite, %greatest, %none : tensor<8xi1>, tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %log = stablehlo.log %r : tensor<8xf32>
  %l = stablehlo.add %log, %n : tensor<8xf32>
  return %l : tensor<8xf32>
}

// A number that differs from key to key is a part of the scores.

// CHECK-LABEL: func.func @keys
// CHECK: %[[D:.*]] = stablehlo.subtract
// CHECK: %[[L:.*]] = sp.log_sum_exp %[[D]] along 1 : tensor<8x8xf32> -> tensor<8xf32>
// CHECK: stablehlo.add %[[L]],
func.func @keys(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %m: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %log = stablehlo.log %r : tensor<8xf32>
  %l = stablehlo.add %log, %m : tensor<8xf32>
  return %l : tensor<8xf32>
}

// What a cotangent gives the scores beside what weights give them.

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[DS:[a-z0-9]+]]: tensor<8x8xf32>, %[[C:[a-z0-9]+]]: tensor<8xf32>)
// CHECK: %[[S:.*]] = stablehlo.dot_general
// CHECK: %[[D:.*]] = sp.add_log_sum_exp_gradient %[[DS]] by %[[C]] of %[[S]] along 1 : tensor<8x8xf32>, tensor<8xf32>
// CHECK: return %[[D]]
func.func @gradient(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %ds: tensor<8x8xf32>, %c: tensor<8xf32>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %start = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
  %greatest = stablehlo.maximum %start, %max : tensor<8xf32>
  %finite = stablehlo.is_finite %greatest : (tensor<8xf32>) -> tensor<8xi1>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %m = stablehlo.select %finite, %greatest, %none : tensor<8xi1>, tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %slope = stablehlo.divide %c, %r : tensor<8xf32>
  %spread = stablehlo.broadcast_in_dim %slope, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %part = stablehlo.multiply %spread, %e : tensor<8x8xf32>
  %sum = stablehlo.add %part, %ds : tensor<8x8xf32>
  return %sum : tensor<8x8xf32>
}

// Shifts that may be NaN where no score is.

// CHECK-LABEL: func.func @any
// CHECK-NOT: sp.log_sum_exp
// CHECK: return
func.func @any(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %m: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %u = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %b = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %abs = stablehlo.abs %r : tensor<8xf32>
  %log = stablehlo.log %abs : tensor<8xf32>
  %l = stablehlo.add %log, %m : tensor<8xf32>
  return %l : tensor<8xf32>
}

// CHECK-LABEL: func.func @not_a_number
// CHECK-NOT: sp.log_sum_exp
// CHECK: return
func.func @not_a_number(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %start = stablehlo.constant dense<0x7FC00000> : tensor<8xf32>
  %greatest = stablehlo.maximum %start, %max : tensor<8xf32>
  %finite = stablehlo.is_finite %greatest : (tensor<8xf32>) -> tensor<8xi1>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %m = stablehlo.select %finite, %greatest, %none : tensor<8xi1>, tensor<8xf32>
  %u = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %b = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %s, %b : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %abs = stablehlo.abs %r : tensor<8xf32>
  %log = stablehlo.log %abs : tensor<8xf32>
  %l = stablehlo.add %log, %m : tensor<8xf32>
  return %l : tensor<8xf32>
}
