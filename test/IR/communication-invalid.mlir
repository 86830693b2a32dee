// RUN: sp-opt %s -split-input-file -verify-diagnostics

func.func @shift_c1_other_result_type(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected results of the operands' types but got 'tensor<1x2x2x4xf32>' for 'tensor<1x3x2x4xf32>'}}
  %0 = "sp.shift"(%k, %src) <{distance = 1 : i64, layout = #sp.layout<contiguous 10 on "sp" of 4>}> : (tensor<1x3x2x4xf32>, index) -> tensor<1x2x2x4xf32>
  return
}

// -----

func.func @shift_c2_full_turn(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected a distance that is no multiple of the 4 ranks of axis "sp" but got 8}}
  %0 = sp.shift %k from %src by 8 in <contiguous 10 on "sp" of 4> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @shift_start_c2_full_turn(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift_start' op expected a distance that is no multiple of the 4 ranks of axis "sp" but got 0}}
  %0, %t = sp.shift_start %k from %src by 0 in <contiguous 10 on "sp" of 4> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @shift_c2_full_turn_back(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected a distance that is no multiple of the 4 ranks of axis "sp" but got -4}}
  %0 = sp.shift %k from %src by -4 in <contiguous 10 on "sp" of 4> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @shift_c4_hops_of_a_turn(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected hops from 1 to 3, less than a whole turn, but got 4}}
  %0 = sp.shift %k from %src by -1 hops 4 in <contiguous 10 on "sp" of 4> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @shift_c3_other_rows(%k: tensor<1x4x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected 3 rows, the most that a rank of the layout holds, but got 'tensor<1x4x2x4xf32>'}}
  %0 = sp.shift %k from %src by 1 in <contiguous 10 on "sp" of 4> : tensor<1x4x2x4xf32>
  return
}

// -----

func.func @redeal_c1_other_count(%x: tensor<3x8xf32>) {
  // expected-error @below {{'sp.redeal' op expected dimension 0 to go from 3 to 2 but got 'tensor<3x8xf32>' and 'tensor<3x8xf32>'}}
  %0 = sp.redeal %x dim 0 from <contiguous 10 on "sp" of 4> to <contiguous 8 on "sp" of 4> : tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @redeal_c2_other_ranks(%x: tensor<3x8xf32>) {
  // expected-error @below {{'sp.redeal' op expected rows dealt to the same ranks, or densely to those of one axis, but got #sp.layout<contiguous 10 on "sp" of 4> and #sp.layout<contiguous 6 on "dp" of 2>}}
  %0 = sp.redeal %x dim 0 from <contiguous 10 on "sp" of 4> to <contiguous 6 on "dp" of 2> : tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @redeal_c3_too_far(%x: tensor<3x8xf32>) {
  // expected-error @below {{'sp.redeal' op expected rows to move by at most 1099511627776 positions but got -9223372036854775808}}
  %0 = sp.redeal %x dim 0 from <contiguous 10 on "sp" of 4> to <contiguous 10 on "sp" of 4> by -9223372036854775808 : tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @redeal_c2_from_dense(%x: tensor<3x8xf32>) {
  // expected-error @below {{'sp.redeal' op expected rows dealt to the same ranks, or densely to those of one axis, but got #sp.layout<contiguous 3 on "" of 1> and #sp.layout<contiguous 3 on "" of 1>}}
  %0 = sp.redeal %x dim 0 from <contiguous 3 on "" of 1> to <contiguous 3 on "" of 1> by 1 : tensor<3x8xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @all_gather_c1_not_whole(%k: tensor<3x8xf32>) {
  // expected-error @below {{'sp.all_gather' op expected dimension 0 to go from 3 to 10 but got 'tensor<3x8xf32>' and 'tensor<12x8xf32>'}}
  %0 = sp.all_gather %k dim 0 in <contiguous 10 on "sp" of 4> : tensor<3x8xf32> -> tensor<12x8xf32>
  return
}

// -----

func.func @all_gather_c1_no_such_dimension(%k: tensor<3x8xf32>) {
  // expected-error @below {{'sp.all_gather' op expected a dimension of 'tensor<3x8xf32>' but got 2}}
  %0 = sp.all_gather %k dim 2 in <contiguous 10 on "sp" of 4> : tensor<3x8xf32> -> tensor<10x8xf32>
  return
}

// -----

func.func @all_gather_c2_nothing() {
  // expected-error @below {{'sp.all_gather' op expected a dimension, a layout and a result for each of one or more values but got 0, 0 and 0 for 0}}
  "sp.all_gather"() <{dims = array<i64>, layouts = [], operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  return
}

// -----

func.func @all_gather_c2_one_dimension_for_two(%k: tensor<3x8xf32>) {
  // expected-error @below {{'sp.all_gather' op expected a dimension, a layout and a result for each of one or more values but got 1, 1 and 2 for 2}}
  %0:2 = sp.all_gather %k, %k dims [0 in <contiguous 10 on "sp" of 4>] : tensor<3x8xf32>, tensor<3x8xf32> -> tensor<10x8xf32>, tensor<10x8xf32>
  return
}

// -----

func.func @all_gather_c3_other_ranks(%k: tensor<3x8xf32>, %w: tensor<5x8xf32>) {
  // expected-error @below {{'sp.all_gather' op expected rows dealt to the same ranks but got #sp.layout<contiguous 10 on "sp" of 4> and #sp.layout<contiguous 10 on "dp" of 2>}}
  %0:2 = sp.all_gather %k, %w dims [0 in <contiguous 10 on "sp" of 4>, 0 in <contiguous 10 on "dp" of 2>] : tensor<3x8xf32>, tensor<5x8xf32> -> tensor<10x8xf32>, tensor<10x8xf32>
  return
}

// -----

func.func @all_to_all_c1_other_heads(%q: tensor<1x3x6x4xf32>) {
  // expected-error @below {{'sp.all_to_all' op expected dealt rows 'tensor<1x3x6x4xf32>' and dealt heads 'tensor<1x10x2x4xf32>' but got 'tensor<1x3x6x4xf32>' and 'tensor<1x10x3x4xf32>'}}
  %0 = sp.all_to_all %q rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of 6 : tensor<1x3x6x4xf32> -> tensor<1x10x3x4xf32>
  return
}

// -----

func.func @all_reduce_c1_no_ranks(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.all_reduce' op expected a positive number of ranks but got 0}}
  %0 = sp.all_reduce %x sum over ["sp"] of 0 : tensor<8xf32>
  return
}

// -----

func.func @all_reduce_c2_axis_twice(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.all_reduce' op expected axis "sp" to be named once}}
  %0 = sp.all_reduce %x sum over ["sp", "sp"] of 4 : tensor<8xf32>
  return
}

// -----

func.func @all_reduce_c2_no_axis(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.all_reduce' op expected an axis to reduce over}}
  %0 = sp.all_reduce %x sum over [] of 1 : tensor<8xf32>
  return
}

// -----

func.func @all_reduce_c3_two_types(%x: tensor<8xf32>, %y: tensor<8xbf16>) {
  // expected-error @below {{'sp.all_reduce' op expected values of 'f32' but got 'tensor<8xbf16>'}}
  %0, %1 = sp.all_reduce %x, %y sum over ["sp"] of 4 : tensor<8xf32>, tensor<8xbf16>
  return
}

// -----

func.func @all_reduce_c3_nothing() {
  // expected-error @below {{'sp.all_reduce' op expected a value to reduce}}
  "sp.all_reduce"() <{kind = 0 : i32, axes = #sp<axis_list["sp"]>, ranks = 4 : i64}> : () -> ()
  return
}

// -----

func.func @all_reduce_c4_other_type(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.all_reduce' op expected results of the operands' types but got 'tensor<4xf32>' for 'tensor<8xf32>'}}
  %0 = "sp.all_reduce"(%x) <{kind = 0 : i32, axes = #sp<axis_list["sp"]>, ranks = 4 : i64}> : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_c1_not_dealt(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.reduce_scatter' op expected dimension 0 to go from 8 to 2 but got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0 = sp.reduce_scatter %x sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_c2_nothing() {
  // expected-error @below {{'sp.reduce_scatter' op expected a dimension, a layout and a result for each of one or more values but got 0, 0 and 0 for 0}}
  "sp.reduce_scatter"() <{kind = 0 : i32, dims = array<i64>, layouts = []}> : () -> ()
  return
}

// -----

func.func @reduce_scatter_c3_other_ranks(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.reduce_scatter' op expected rows dealt to the same ranks but got #sp.layout<contiguous 8 on "sp" of 4> and #sp.layout<contiguous 8 on "sp" of 2>}}
  %0:2 = sp.reduce_scatter %x, %x sum dims [0 in <contiguous 8 on "sp" of 4>, 0 in <contiguous 8 on "sp" of 2>] : tensor<8xf32>, tensor<8xf32> -> tensor<2xf32>, tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_c4_two_types(%x: tensor<8xf32>, %y: tensor<8xbf16>) {
  // expected-error @below {{'sp.reduce_scatter' op expected values of 'f32' but got 'tensor<8xbf16>'}}
  %0:2 = sp.reduce_scatter %x, %y sum dim 0 in <contiguous 8 on "sp" of 4> : tensor<8xf32>, tensor<8xbf16> -> tensor<2xf32>, tensor<2xbf16>
  return
}

// -----

func.func @shift_c2_full_turn_of_a_factor(%k: tensor<1x3x2x4xf32>) {
  %src = sp.rank "sp" : index
  // expected-error @below {{'sp.shift' op expected a distance that is no multiple of the 2 ranks of axis "sp:(2)2" but got 2}}
  %0 = sp.shift %k from %src by 2 along "sp:(2)2" in <contiguous 10 on "sp" of 4> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @all_to_all_c2_other_parts(%q: tensor<1x3x4x8xf32>) {
  // expected-error @below {{'sp.all_to_all' op expected the parts of #sp.layout<zigzag 10 on "sp" of 4 split 2> to be joined by the owners of heads #sp.layout<contiguous 4 on "sp" of 4> but got onto #sp.layout<zigzag 10 on "sp:(1)2" of 2>}}
  %0 = sp.all_to_all %q rows <zigzag 10 on "sp" of 4 split 2> onto <zigzag 10 on "sp:(1)2" of 2> heads <contiguous 4 on "sp" of 4> of 4 : tensor<1x3x4x8xf32> -> tensor<1x5x1x8xf32>
  return
}

// -----

// expected-error @below {{expected a split that divides the 4 ranks but got 3}}
func.func @split_of_three(%x: tensor<3xf32> {sp.layout = #sp.layout<contiguous 10 on "sp" of 4 split 3>})

// -----

// expected-error @below {{expected layout in 3 blocks of a multiple of 24 positions but got 20}}
func.func @blocks_of_no_multiple(%x: tensor<5xf32> {sp.layout = #sp.layout<zigzag 20 on "sp" of 4 blocks 3>})

// -----

// expected-error @below {{expected blocks or turns but got both}}
func.func @blocks_and_turns(%x: tensor<6xf32> {sp.layout = #sp.layout<zigzag 24 on "sp" of 4 blocks 3 turns 3>})

// -----

func.func @positions_of_a_turn() -> tensor<2xi32> {
  // expected-error @below {{'sp.positions' op expected rows of a rank, not of one of its 3 turns}}
  %0 = sp.positions <zigzag 24 on "sp" of 4 turns 3> : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @all_to_all_c3_negative_heads(%q: tensor<1x3x6x4xf32>) {
  // expected-error @below {{'sp.all_to_all' op expected from 0 to 2147483647 heads, and as many at most of the tensor, but got #sp.layout<contiguous 6 on "sp" of 4> of -9223372036854775808}}
  %0 = sp.all_to_all %q rows <zigzag 10 on "sp" of 4> heads <contiguous 6 on "sp" of 4> of -9223372036854775808 : tensor<1x3x6x4xf32> -> tensor<1x10x2x4xf32>
  return
}

// -----

func.func @shift_c5_needed_further_on(%k: tensor<1x3x2x4xf32>, %src: index) {
  // expected-error @below {{'sp.shift' op expected blocks that go by 1 or -1 to be needed by somebody but got 2}}
  %0 = sp.shift %k from %src by 2 in <contiguous 10 on "sp" of 4> needed_by <rows <contiguous 10 on "sp" of 4> bands []> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @shift_c6_straight_along_a_factor(%k: tensor<1x3x2x4xf32>, %src: index) {
  // expected-error @below {{'sp.shift' op expected blocks that are seen by others to go straight to them, along axis "sp" and of no batch}}
  %0 = sp.shift %k from %src by 1 along "sp:(2)2" in <contiguous 10 on "sp" of 4> seen_by <rows <contiguous 10 on "sp" of 4> bands []> : tensor<1x3x2x4xf32>
  return
}

// -----

func.func @no_factor_of_an_axis() {
  // expected-error @below {{expected an axis, such as "sp", or a factor of one, such as "sp:(2)4", but got "sp:(0)4"}}
  %0 = sp.rank "sp:(0)4" : index
  return
}

// -----

// expected-error @below {{'func.func' op has attribute 'sp.plases', which the sp dialect does not have on operations; it has sp.shardings, sp.turns, sp.one_row, sp.rows_of_batch, sp.not_dealt, sp.backward, }}
func.func @attribute_of_no_stage() attributes {sp.plases = []} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.sharding' to be a sharding but got 3 : i64}}
func.func @sharding_that_is_a_number(%x: tensor<4xf32> {sp.sharding = 3}) {
  return
}
