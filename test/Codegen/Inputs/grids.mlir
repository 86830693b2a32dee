// Of a transformer: element by element, by rows, in doubles, and moved halves.
func.func @gelu(%arg0: tensor<40x1024xbf16>, %arg1: tensor<1024xbf16>) -> tensor<40x1024xbf16> {
  %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1024xbf16>) -> tensor<40x1024xbf16>
  %1 = stablehlo.add %arg0, %0 : tensor<40x1024xbf16>
  %2 = stablehlo.tanh %1 : tensor<40x1024xbf16>
  %3 = stablehlo.multiply %2, %1 : tensor<40x1024xbf16>
  return %3 : tensor<40x1024xbf16>
}
func.func @main(%x: tensor<24x4096xbf16>, %w: tensor<4096xf32>) -> tensor<24x4096xbf16> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<4.0960e+03> : tensor<24xf32>
  %f = stablehlo.convert %x : (tensor<24x4096xbf16>) -> tensor<24x4096xf32>
  %s = stablehlo.multiply %f, %f : tensor<24x4096xf32>
  %r = stablehlo.reduce(%s init: %c) applies stablehlo.add across dimensions = [1] : (tensor<24x4096xf32>, tensor<f32>) -> tensor<24xf32>
  %m = stablehlo.divide %r, %n : tensor<24xf32>
  %q = stablehlo.rsqrt %m : tensor<24xf32>
  %b = stablehlo.broadcast_in_dim %q, dims = [0] : (tensor<24xf32>) -> tensor<24x4096xf32>
  %y = stablehlo.multiply %f, %b : tensor<24x4096xf32>
  %wb = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4096xf32>) -> tensor<24x4096xf32>
  %z = stablehlo.multiply %y, %wb : tensor<24x4096xf32>
  %o = stablehlo.convert %z : (tensor<24x4096xf32>) -> tensor<24x4096xbf16>
  return %o : tensor<24x4096xbf16>
}
func.func @wide_exponential(%x: tensor<77xf64>) -> tensor<77xf64> {
  %0 = stablehlo.exponential %x : tensor<77xf64>
  return %0 : tensor<77xf64>
}
func.func @rope(%x: tensor<1x24x3x128xf32>, %cos: tensor<24x64xf32>, %sin: tensor<24x64xf32>) -> tensor<1x24x3x128xf32> {
  %a = stablehlo.slice %x [0:1, 0:24, 0:3, 0:64] : (tensor<1x24x3x128xf32>) -> tensor<1x24x3x64xf32>
  %b = stablehlo.slice %x [0:1, 0:24, 0:3, 64:128] : (tensor<1x24x3x128xf32>) -> tensor<1x24x3x64xf32>
  %c = stablehlo.broadcast_in_dim %cos, dims = [1, 3] : (tensor<24x64xf32>) -> tensor<1x24x3x64xf32>
  %s = stablehlo.broadcast_in_dim %sin, dims = [1, 3] : (tensor<24x64xf32>) -> tensor<1x24x3x64xf32>
  %0 = stablehlo.multiply %a, %c : tensor<1x24x3x64xf32>
  %1 = stablehlo.multiply %b, %s : tensor<1x24x3x64xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<1x24x3x64xf32>
  %3 = stablehlo.multiply %b, %c : tensor<1x24x3x64xf32>
  %4 = stablehlo.multiply %a, %s : tensor<1x24x3x64xf32>
  %5 = stablehlo.add %3, %4 : tensor<1x24x3x64xf32>
  %6 = stablehlo.concatenate %2, %5, dim = 3 : (tensor<1x24x3x64xf32>, tensor<1x24x3x64xf32>) -> tensor<1x24x3x128xf32>
  return %6 : tensor<1x24x3x128xf32>
}
