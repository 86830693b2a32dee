// RUN: sp-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'sp.mesh' op expected an axis of the mesh but got "cp"}}
sp.mesh @mesh_c1_sequence_elsewhere <["dp" = 2, "sp" = 4]> sequence "cp"

// -----

// expected-note @below {{the other mesh}}
sp.mesh @mesh <["sp" = 4]>
// expected-error @below {{'sp.mesh' op expected one mesh in a module}}
sp.mesh @mesh_c2_second <["sp" = 4]>

// -----

// expected-error @below {{expected mesh axis "sp" to have a positive size but got 0}}
sp.mesh @mesh_axis_without_ranks <["sp" = 0]>

// -----

// expected-error @below {{expected a mesh of at most 1048576 ranks but got 2 x 9223372036854775807}}
sp.mesh @mesh_of_too_many_ranks <["dp" = 2, "sp" = 9223372036854775807]>

// -----

// expected-error @below {{expected distinct mesh axes but got "sp" twice}}
sp.mesh @mesh_axis_twice <["sp" = 2, "sp" = 4]>

// -----

func.func @attention_c1_other_head_size(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x2x8xf32>) {
  // expected-error @below {{'sp.attention' op expected [batch, queries, heads, d], [batch, keys, kvHeads, d], [batch, keys, kvHeads, dv] and a result [batch, queries, heads, dv] but got 'tensor<1x64x8x16xf32>', 'tensor<1x64x2x8xf32>', 'tensor<1x64x2x8xf32>' and 'tensor<1x64x8x8xf32>'}}
  %o = sp.attention(%q, %k, %k) bands [] scale 1.0 : tensor<1x64x8x16xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32> -> tensor<1x64x8x8xf32>
  return
}

// -----

func.func @attention_c2_more_kv_heads(%q: tensor<1x64x2x16xf32>, %k: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected at most as many kv heads as query heads but got 8 kv heads for 2 query heads}}
  %o = sp.attention(%q, %k, %k) bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @attention_c2_no_heads(%q: tensor<1x64x0x16xf32>) {
  // expected-error @below {{'sp.attention' op expected at least one head but got 0 kv heads for 0 query heads}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0 : tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32> -> tensor<1x64x0x16xf32>
  return
}

// -----

func.func @attention_c2_no_kv_heads(%q: tensor<1x64x2x16xf32>, %k: tensor<1x64x0x16xf32>) {
  // expected-error @below {{'sp.attention' op expected at least one head but got 0 kv heads for 2 query heads}}
  %o = sp.attention(%q, %k, %k) bands [] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @attention_backward_c2_no_heads(%q: tensor<1x64x0x16xf32>, %lse: tensor<1x64x0xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected at least one head but got 0 kv heads for 0 query heads}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) bands [] scale 1.0 : (tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0xf32>, tensor<1x64x0x16xf32>) -> (tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>, tensor<1x64x0x16xf32>)
  return
}

// -----

func.func @attention_c3_band_outside(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected non-empty bands within 64 queries and 64 keys but got #sp.band<q 0 to 65, k 0 to 64, lo -inf, hi 0>}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 65, k 0 to 64, lo -inf, hi 0>] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @attention_c4_mean_without_uniform_rows(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected uniform bands over every row without visible keys when 'empty' is mean}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 1 to 64, k 0 to 64, lo -inf, hi 0>] scale 1.0 empty mean : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @attention_c5_bands_overlap(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{'sp.attention' op expected disjoint bands but #sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0> and #sp.band<q 0 to 8, k 0 to 8, lo -inf, hi inf> share a pair}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo -inf, hi 0>, #sp.band<q 0 to 8, k 0 to 8, lo -inf, hi inf>] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @plan_without_a_factor(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{expected positive factors of axis "sp" but got heads 0, outer 1, inner 1, gather 1}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0 plan <axis = "sp", heads = 0, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first> : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @attend_c1_state_of_other_rows(%q: tensor<1x3x2x4xf32>, %k: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected a state [batch, queries, heads, dv] and [batch, queries, heads] for queries 'tensor<1x3x2x4xf32>' but got 'tensor<1x4x2x4xf32>' and 'tensor<1x4x2xf32>'}}
  %o, %l = sp.attend(%q, %k, %k) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x4x2x4xf32>, tensor<1x4x2xf32>
  return
}

// -----

func.func @attend_c7_turn_of_no_owner(%q: tensor<1x2x1x4xf32>, %k: tensor<1x6x1x4xf32>) {
  // expected-error @below {{'sp.attend' op expected a query_source for queries by turn, and only for those, but got #sp.layout<striped 24 on "sp" of 4 turns 3>}}
  %o, %l = sp.attend(%q, %k, %k) queries <striped 24 on "sp" of 4 turns 3> keys <striped 24 on "sp" of 4 blocks 3> bands [] scale 1.0 : (tensor<1x2x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x2x1x4xf32>, tensor<1x2x1xf32>
  return
}

// -----

func.func @attend_c2_result_of_sums(%q: tensor<1x3x2x4xbf16>) {
  // expected-error @below {{'sp.attend' op expected a state of one element type, or without one and without sums a result in that of the queries, but got 'tensor<1x3x2x4xbf16>' and 'tensor<1x3x2x2xf32>' for 'tensor<1x3x2x4xbf16>'}}
  %o, %l = sp.attend(%q, %q, %q) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 as sums_base_2 : (tensor<1x3x2x4xbf16>, tensor<1x3x2x4xbf16>, tensor<1x3x2x4xbf16>) -> tensor<1x3x2x4xbf16>, tensor<1x3x2x2xf32>
  return
}

// -----

func.func @attend_c2_state_of_another_type(%q: tensor<1x3x2x4xf32>, %o: tensor<1x3x2x4xf64>, %l: tensor<1x3x2xf64>) {
  // expected-error @below {{'sp.attend' op expected the continued state to have the types of the new one}}
  %0:2 = "sp.attend"(%q, %q, %q, %o, %l) <{bands = [], keys = #sp.layout<contiguous 10 on "sp" of 4>, queries = #sp.layout<contiguous 10 on "sp" of 4>, scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0>, term_kinds = #sp<term_kinds[]>}>
    : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf64>, tensor<1x3x2xf64>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2xf32>)
  return
}

// -----

func.func @attend_c3_rows_of_no_rank(%q: tensor<1x4x2x4xf32>, %k: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected 3 local queries and 3 local keys, the most that a rank of the layouts holds, but got 4 and 3}}
  %o, %l = sp.attend(%q, %k, %k) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> bands [] scale 1.0 : (tensor<1x4x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x4x2x4xf32>, tensor<1x4x2xf32>
  return
}

// -----

func.func @attend_c3_heads_of_no_rank(%q: tensor<1x3x4x4xf32>, %k: tensor<1x3x2x4xf32>) {
  // expected-error @below {{'sp.attend' op expected 2 local heads, the most that a rank of #sp.layout<contiguous 8 on "sp" of 4> holds, but got 4}}
  %o, %l = sp.attend(%q, %k, %k) queries <contiguous 10 on "sp" of 4> keys <contiguous 10 on "sp" of 4> heads <contiguous 8 on "sp" of 4> kv_heads 2 bands [] scale 1.0 : (tensor<1x3x4x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x4x4xf32>, tensor<1x3x4xf32>
  return
}

// -----

func.func @positions_c1_too_few() {
  // expected-error @below {{'sp.positions' op expected 3 positions, the most that a rank of the layout holds, but got 'tensor<2xi32>'}}
  %p = sp.positions <contiguous 10 on "sp" of 4> : tensor<2xi32>
  return
}

// -----

func.func @launch_c1_no_kernel(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.launch' op expected a function called 'norm'}}
  %y = sp.launch @norm(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @write(tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
func.func @launch_c2_onto_another_type(%x: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'sp.launch' op expected one result, of the type of operand 1, onto which it is written}}
  %y = sp.launch @write(%x, %i) onto 1 : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

func.func private @write(tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
func.func @launch_c2_kernel_reads_it(%x: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'sp.launch' op expected kernel 'write' to be written onto the same operand}}
  %y = sp.launch @write(%x, %i) onto 0 : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

func.func private @write(tensor<8xf32> {sp.onto}, tensor<i32>) -> tensor<8xf32>
func.func @launch_c2_call_keeps_it(%x: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'sp.launch' op expected kernel 'write' to be written onto the same operand}}
  %y = sp.launch @write(%x, %i) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

func.func private @norm(tensor<4xf32>) -> tensor<4xf32>
func.func @launch_c1_kernel_of_another_type(%x: tensor<8xf32>) {
  // expected-error @below {{'sp.launch' op expected kernel 'norm' of type '(tensor<8xf32>) -> tensor<8xf32>' but got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = sp.launch @norm(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error @+3 {{expected a layout of 8 positions but got #sp.layout<contiguous 9 on "sp" of 4>}}
// expected-error @+2 {{failed to parse Sp_DimAttr parameter 'atoms' which is to be a `::llvm::ArrayRef<AtomAttr>`}}
// expected-error @+1 {{failed to parse Sp_ShardingAttr parameter 'dims' which is to be a `::llvm::ArrayRef<DimAttr>`}}
#atom_of_another_layout = #sp.sharding<[[8 by <contiguous 9 on "sp" of 4>]]>

// -----

// expected-error @below {{expected layout within 9 to 1099511627776 positions but got 8}}
#layout_within_fewer = #sp.layout<contiguous 9 within 8 on "sp" of 4>

// -----

// expected-error @below {{expected a layout within more than its own 9 positions}}
#layout_within_itself = #sp.layout<contiguous 9 within 9 on "sp" of 4>

// -----

// expected-error @below {{expected layout over 1 to 1048576 ranks but got 0 owners split in 1}}
#layout_without_ranks = #sp.layout<contiguous 8 on "sp" of 0>

// -----

// expected-error @below {{'sp.mesh' op expected processes to count every rank once but got ["sp:(1)2", "sp:(1)2"]}}
sp.mesh @mesh <["sp" = 4]> sequence "sp" processes ["sp:(1)2", "sp:(1)2"]

// -----

// expected-error @below {{'sp.mesh' op expected processes to count factors of the axes once but got "sp:(3)2"}}
sp.mesh @mesh <["sp" = 4]> sequence "sp" processes ["sp:(3)2", "sp:(1)2"]

// -----

func.func @bound_of_two_minuses(%q: tensor<1x64x2x16xf32>) {
  // expected-error @below {{expected one minus before a bound}}
  %o = sp.attention(%q, %q, %q) bands [#sp.band<q 0 to 64, k 0 to 64, lo --9223372036854775808, hi 0>] scale 1.0 : tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32> -> tensor<1x64x2x16xf32>
  return
}

// -----

func.func @take_c1_other_rows(%x: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{'sp.take' op expected rows of dimension 0 of 'tensor<4x8xf32>' but got 'tensor<1x7xf32>'}}
  %0 = sp.take %x at %i dim 0 : tensor<4x8xf32> -> tensor<1x7xf32>
  return
}

// -----

func.func @take_c2_columns(%x: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{'sp.take' op expected dimensions of 1 before dimension 1 but got 'tensor<4x8xf32>'}}
  %0 = sp.take %x at %i dim 1 : tensor<4x8xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @put_c1_more_rows(%b: tensor<5x8xf32>, %x: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{'sp.put' op expected rows of dimension 0 of 'tensor<4x8xf32>' but got 'tensor<5x8xf32>'}}
  %0 = sp.put %b into %x at %i dim 0 : tensor<5x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @put_c2_columns(%b: tensor<4x2xf32>, %x: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{'sp.put' op expected dimensions of 1 before dimension 1 but got 'tensor<4x8xf32>'}}
  %0 = sp.put %b into %x at %i dim 1 : tensor<4x2xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @take_c3_row_of_the_rank(%x: tensor<4x8xf32>) {
  %i = sp.rank "sp" : index
  // expected-error @below {{'sp.take' op expected rows at a constant or an affine function of counters of loops around it}}
  %0 = sp.take %x at %i dim 0 : tensor<4x8xf32> -> tensor<1x8xf32>
  return
}
