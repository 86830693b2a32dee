// REQUIRES: jax
// RUN: sp-interpret %s --random-inputs=1 --precision=program --errors=%t.npz --outputs=%t.out.npz
// RUN: %python -c "import numpy as np; f = np.load(r'%t.npz'); print(*((n, f[n].dtype, f[n].shape, f[n].max() > 0) for n in sorted(f.files)))" | FileCheck %s

// Errors have the shapes of the results and are f64, whatever those are; integers have none.
// CHECK: ('error0', dtype('float64'), (3,), {{.*}}True{{.*}}) ('error1', dtype('float64'), (3,), {{.*}}False{{.*}}) ('error2', dtype('float64'), (3,), {{.*}}True{{.*}})
func.func @main(%x: tensor<3xf32>, %y: tensor<3xi32>, %z: tensor<3xcomplex<f32>>)
    -> (tensor<3xbf16>, tensor<3xi32>, tensor<3xcomplex<f32>>) {
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xbf16>
  %1 = stablehlo.add %y, %y : tensor<3xi32>
  %2 = stablehlo.multiply %z, %z : tensor<3xcomplex<f32>>
  return %0, %1, %2 : tensor<3xbf16>, tensor<3xi32>, tensor<3xcomplex<f32>>
}
