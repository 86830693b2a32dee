// RUN: sp-opt %s -split-input-file --sp-propagate-shardings --sp-localize | FileCheck %s
//
// Rows that move along a dealt dimension: only those at the ends of what ranks hold travel.

// The first positions stay where they are.
// CHECK-LABEL: module @first_positions
// CHECK:       func.func @main(%[[X:.*]]: tensor<1x3x4xf32>
// CHECK-NEXT:    return %[[X]]
module @first_positions {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12x4xf32> {sp.sharding = #sp.sharding<[[1], [12 by <zigzag 12 on "sp" of 4>], [4]]>}) -> tensor<1x11x4xf32> {
    %y = stablehlo.slice %x [0:1, 0:11, 0:4] : (tensor<1x12x4xf32>) -> tensor<1x11x4xf32>
    return %y : tensor<1x11x4xf32>
  }
}

// -----

// What is cut off elsewhere is cut on each rank.
// CHECK-LABEL: module @later_positions
// CHECK:         %[[M:.*]] = sp.redeal %{{.*}} dim 1 from <zigzag 12 on "sp" of 4> to <zigzag 11 within 12 on "sp" of 4> by 1 : tensor<1x3x4xf32> -> tensor<1x3x4xf32>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.slice %[[M]] [0:1, 0:3, 1:3]
// CHECK-NEXT:    return %[[S]] : tensor<1x3x2xf32>
module @later_positions {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12x4xf32> {sp.sharding = #sp.sharding<[[1], [12 by <zigzag 12 on "sp" of 4>], [4]]>}) -> tensor<1x11x2xf32> {
    %y = stablehlo.slice %x [0:1, 1:12, 1:3] : (tensor<1x12x4xf32>) -> tensor<1x11x2xf32>
    return %y : tensor<1x11x2xf32>
  }
}

// -----

// Fewer positions than a rank holds are everybody's.
// CHECK-LABEL: module @last_position
// CHECK:         %[[M:.*]] = sp.redeal %{{.*}} dim 1 from <zigzag 12 on "sp" of 4> to <contiguous 1 on "" of 1> by 11 : tensor<1x3x4xf32> -> tensor<1x1x4xf32>
// CHECK-NEXT:    return %[[M]]
module @last_position {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12x4xf32> {sp.sharding = #sp.sharding<[[1], [12 by <zigzag 12 on "sp" of 4>], [4]]>}) -> tensor<1x1x4xf32> {
    %y = stablehlo.slice %x [0:1, 11:12, 0:4] : (tensor<1x12x4xf32>) -> tensor<1x1x4xf32>
    return %y : tensor<1x1x4xf32>
  }
}

// -----

// Of a stride nothing is known.
// CHECK-LABEL: module @every_other_position
// CHECK:         %[[G:.*]] = sp.all_gather %{{.*}} dim 1
// CHECK-NEXT:    stablehlo.slice %[[G]] [0:1, 0:12:2, 0:4]
module @every_other_position {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12x4xf32> {sp.sharding = #sp.sharding<[[1], [12 by <zigzag 12 on "sp" of 4>], [4]]>}) -> tensor<1x6x4xf32> {
    %y = stablehlo.slice %x [0:1, 0:12:2, 0:4] : (tensor<1x12x4xf32>) -> tensor<1x6x4xf32>
    return %y : tensor<1x6x4xf32>
  }
}

// -----

// The gradient of a slice: rows beyond it are padding.
// CHECK-LABEL: module @pad_behind
// CHECK:       func.func @main(%[[X:.*]]: tensor<1x3xf32>
// CHECK-DAG:     %[[P:.*]] = sp.positions <contiguous 12 on "sp" of 4>
// CHECK-DAG:     %[[ELEVEN:.*]] = stablehlo.constant dense<11> : tensor<3xi32>
// CHECK:         %[[B:.*]] = stablehlo.compare LT, %[[P]], %[[ELEVEN]]
// CHECK:         %[[M:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
// CHECK:         stablehlo.select %[[M]], %[[X]], %{{.*}} : tensor<1x3xi1>, tensor<1x3xf32>
module @pad_behind {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x11xf32> {sp.sharding = #sp.sharding<[[1], [11 by <contiguous 11 within 12 on "sp" of 4>]]>}) -> tensor<1x12xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<1x11xf32>, tensor<f32>) -> tensor<1x12xf32>
    return %y : tensor<1x12xf32>
  }
}

// -----

// The token before, as models that mix neighbours have it.
// CHECK-LABEL: module @pad_before
// CHECK:         %[[M:.*]] = sp.redeal %{{.*}} dim 1 from <striped 12 on "sp" of 4> to <striped 12 on "sp" of 4> by -1
// CHECK:         stablehlo.select %{{.*}}, %{{.*}}, %[[M]]
module @pad_before {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12xf32> {sp.sharding = #sp.sharding<[[1], [12 by <striped 12 on "sp" of 4>]]>}) -> tensor<1x12xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.pad %x, %zero, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<1x12xf32>, tensor<f32>) -> tensor<1x12xf32>
    return %y : tensor<1x12xf32>
  }
}

// -----

// A roll: the last token is everybody's, the others move by one.
// CHECK-LABEL: module @roll
// CHECK-DAG:     %[[LAST:.*]] = sp.redeal %{{.*}} dim 1 from <zigzag 12 on "sp" of 4> to <contiguous 1 on "" of 1> by 11
// CHECK-DAG:     %[[FIRST:.*]] = "stablehlo.gather"(%[[LAST]]
// CHECK-DAG:     %[[REST:.*]] = sp.redeal %{{.*}} dim 1 from <zigzag 11 within 12 on "sp" of 4> to <zigzag 12 on "sp" of 4> by -1
// CHECK:         stablehlo.select %{{.*}}, %[[FIRST]], %[[REST]]
module @roll {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<1x12xf32> {sp.sharding = #sp.sharding<[[1], [12 by <zigzag 12 on "sp" of 4>]]>}) -> tensor<1x12xf32> {
    %last = stablehlo.slice %x [0:1, 11:12] : (tensor<1x12xf32>) -> tensor<1x1xf32>
    %rest = stablehlo.slice %x [0:1, 0:11] : (tensor<1x12xf32>) -> tensor<1x11xf32>
    %y = stablehlo.concatenate %last, %rest, dim = 1 : (tensor<1x1xf32>, tensor<1x11xf32>) -> tensor<1x12xf32>
    return %y : tensor<1x12xf32>
  }
}

// -----

// A mean over all but the last token leaves out what that token's rank holds of it.
// CHECK-LABEL: module @mean_of_first_positions
// CHECK:         sp.row_count <contiguous 11 within 12 on "sp" of 4>
// CHECK:         stablehlo.select
// CHECK:         stablehlo.reduce
// CHECK:         sp.all_reduce
module @mean_of_first_positions {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<12xf32> {sp.sharding = #sp.sharding<[[12 by <contiguous 12 on "sp" of 4>]]>}) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.slice %x [0:11] : (tensor<12xf32>) -> tensor<11xf32>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<11xf32>, tensor<f32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// Rows of another layout come from those who have them.
// CHECK-LABEL: module @two_layouts
// CHECK:         %[[S:.*]] = sp.redeal %{{.*}} dim 0 from <contiguous 12 on "sp" of 4> to <contiguous 11 within 12 on "sp" of 4> by 1
// CHECK:         sp.redeal %[[S]] dim 0 from <contiguous 11 within 12 on "sp" of 4> to <zigzag 11 on "sp" of 4> :
module @two_layouts {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<12xf32> {sp.sharding = #sp.sharding<[[12 by <contiguous 12 on "sp" of 4>]]>},
                  %y: tensor<11xf32> {sp.sharding = #sp.sharding<[[11 by <zigzag 11 on "sp" of 4>]]>}) -> tensor<11xf32> {
    %s = stablehlo.slice %x [1:12] : (tensor<12xf32>) -> tensor<11xf32>
    %t = stablehlo.add %y, %s : tensor<11xf32>
    return %t : tensor<11xf32>
  }
}

// -----

// Numbers that a sum reads as rows are made again where one of them is read:
// each rank makes all, and none travels.
// CHECK-LABEL: module @one_row_of_numbers
// CHECK-NOT:     sp.redeal
// CHECK-NOT:     sp.all_gather
// CHECK:         stablehlo.slice {{.*}} [1:2, 0:4] : (tensor<6x4xf32>) -> tensor<1x4xf32>
module @one_row_of_numbers {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<6x4xf32> {sp.sharding = #sp.sharding<[[6 by <zigzag 6 on "sp" of 3>], [4]]>}) -> (tensor<6x4xf32>, tensor<1x4xf32>) {
    %i = stablehlo.iota dim = 0 : tensor<6x4xf32>
    %c = stablehlo.cosine %i : tensor<6x4xf32>
    %y = stablehlo.add %x, %c : tensor<6x4xf32>
    %one = stablehlo.slice %c [1:2, 0:4] : (tensor<6x4xf32>) -> tensor<1x4xf32>
    return %y, %one : tensor<6x4xf32>, tensor<1x4xf32>
  }
}

// -----

// Rows of which few ranks hold all, and others none, are shared by all.
// CHECK-LABEL: module @part_of_its_own
// CHECK:         %[[P:.*]] = sp.redeal %{{.*}} dim 0 from <contiguous 16 on "sp" of 4> to <contiguous 8 on "sp" of 4> by 4 : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    stablehlo.sine %[[P]] : tensor<2x4xf32>
module @part_of_its_own {
  sp.mesh @mesh <["sp" = 4]> sequence "sp"
  func.func @main(%x: tensor<16x4xf32> {sp.sharding = #sp.sharding<[[16 by <contiguous 16 on "sp" of 4>], [4]]>}) -> tensor<8x4xf32> {
    %part = stablehlo.slice %x [4:12, 0:4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
    %y = stablehlo.sine %part : tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// One row at a computed position: the sum of what each rank has of it.
// CHECK-LABEL: module @one_row
// CHECK:         %[[P:.*]] = sp.positions <zigzag 10 on "sp" of 3>
// CHECK:         %[[IS:.*]] = stablehlo.compare EQ, %[[P]]
// CHECK:         %[[OWN:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
// CHECK:         %[[ROW:.*]] = sp.all_reduce %[[OWN]] sum over ["sp"] of 3 : tensor<2x4xf32>
// CHECK:         stablehlo.reshape %[[ROW]] : (tensor<2x4xf32>) -> tensor<2x1x4xf32>
module @one_row {
  sp.mesh @mesh <["sp" = 3]> sequence "sp"
  func.func @main(%x: tensor<2x10x4xf32> {sp.sharding = #sp.sharding<[[2], [10 by <zigzag 10 on "sp" of 3>], [4]]>}, %at: tensor<i32>) -> tensor<2x1x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %x, %zero, %at, %zero, sizes = [2, 1, 4] : (tensor<2x10x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x4xf32>
    return %row : tensor<2x1x4xf32>
  }
}
