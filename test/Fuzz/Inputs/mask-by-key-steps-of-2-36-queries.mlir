func.func @main(%q: tensor<1x2x68719476736x8xf32>, %k: tensor<1x2x32x8xf32>, %v: tensor<1x2x32x8xf32>) -> tensor<1x2x68719476736x8xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x68719476736x8xf32>, tensor<1x2x32x8xf32>) -> tensor<1x2x68719476736x32xf32>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %i = stablehlo.iota dim = 0 : tensor<68719476736xi64>
  %j = stablehlo.iota dim = 0 : tensor<32xi64>
  %iq = stablehlo.constant dense<3> : tensor<68719476736xi64>
  %ik = stablehlo.constant dense<3> : tensor<32xi64>
  %i1 = stablehlo.divide %i, %iq : tensor<68719476736xi64>
  %j1 = stablehlo.divide %j, %ik : tensor<32xi64>
  %i2 = stablehlo.broadcast_in_dim %five, dims = [] : (tensor<i64>) -> tensor<68719476736x32xi64>
  %j2 = stablehlo.broadcast_in_dim %j1, dims = [1] : (tensor<32xi64>) -> tensor<68719476736x32xi64>
  %m = stablehlo.compare GE, %i2, %j2 : (tensor<68719476736x32xi64>, tensor<68719476736x32xi64>) -> tensor<68719476736x32xi1>
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<68719476736x32xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<68719476736x32xi1>) -> tensor<1x2x68719476736x32xi1>
  %nb = stablehlo.broadcast_in_dim %ninf, dims = [2, 3] : (tensor<68719476736x32xf32>) -> tensor<1x2x68719476736x32xf32>
  %ms = stablehlo.select %mb, %s, %nb : tensor<1x2x68719476736x32xi1>, tensor<1x2x68719476736x32xf32>
  %e = stablehlo.exponential %ms : tensor<1x2x68719476736x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<1x2x68719476736x32xf32>, tensor<f32>) -> tensor<1x2x68719476736xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0,1,2] : (tensor<1x2x68719476736xf32>) -> tensor<1x2x68719476736x32xf32>
  %w = stablehlo.divide %e, %b : tensor<1x2x68719476736x32xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x68719476736x32xf32>, tensor<1x2x32x8xf32>) -> tensor<1x2x68719476736x8xf32>
  return %o : tensor<1x2x68719476736x8xf32>
}
