// RUN: sp-opt %s -split-input-file --sp-verify-plan -verify-diagnostics

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @attention_without_a_plan(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a plan after Plan}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0 : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["dp" = 4, "sp" = 4]> sequence "sp" batch "dp"
func.func @plan_over_another_axis(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a plan over the sequence axis of mesh dp=4,sp=4 but got axis "dp"}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "dp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @plan_of_another_size(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected the plan's factors to multiply to the 4 ranks of axis "sp" but got 3}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 3, gather = 1, layout = zigzag, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @gather_beside_another_factor(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected gather to take the whole axis but got #sp.plan<axis = "sp", heads = 2, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first>}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 2, layout = zigzag, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @merge_beside_another_factor(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected merge to take the whole axis, and all queries in one turn, but got #sp.plan<axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, merge = 2>}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 2, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, merge = 2> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @windows_of_one(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected inner windows of more than one rank but got #sp.plan<axis = "sp", heads = 1, outer = 4, inner = 1, gather = 1, layout = zigzag, placement = head_first>}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 4, inner = 1, gather = 1, layout = zigzag, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @two_layouts_of_one_sequence(%q: tensor<1x64x8x16xf32>) {
  // expected-note @below {{the other attention}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  // expected-error @below {{'sp.attention' op expected one layout for the sequence of 64 positions but got #sp.layout<striped 64 on "sp" of 4> beside #sp.layout<zigzag 64 on "sp" of 4>}}
  %p = sp.attention(%o, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = striped, placement = head_first> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

// expected-error @below {{expected a mesh after Plan}}
module {}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @both_ways_without_a_ring(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a ring to turn both ways but got #sp.plan<axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, bidirectional = true>}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, bidirectional = true> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @queries_travel_without_a_ring(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected a ring for queries to travel but got #sp.plan<axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, queries_travel = true>}}
  %o = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, queries_travel = true> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func private @biased(tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
func.func @queries_travel_from_their_pairs(%q: tensor<1x64x8x16xf32>, %lse: tensor<1x64x8x2xf32>, %a: tensor<1x1x64x64xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected keys to travel, as ranks have a term of each pair by their queries, but got #sp.plan<axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, queries_travel = true>}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %lse) by(%q) score @biased pair(%a : tensor<1x1x64x64xf32>) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, queries_travel = true>
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x2xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @groups_of_a_ring(%q: tensor<1x64x8x16xf32>) {
  // expected-error @below {{'sp.attention' op expected groups of heads that are exchanged or gathered but got #sp.plan<axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, groups = 2>}}
  %a = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, groups = 2> : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @groups_that_share_a_query_head(%q: tensor<1x64x8x16xf32>, %k: tensor<1x64x3x16xf32>) {
  // expected-error @below {{'sp.attention' op expected groups of kv heads with as many query heads each, of 3 kv heads for 8 query heads, but got #sp.plan<axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2>}}
  %a = sp.attention(%q, %k, %k) bands [] scale 1.0
     plan <axis = "sp", heads = 4, outer = 1, inner = 1, gather = 1, layout = zigzag, placement = head_first, groups = 2> : tensor<1x64x8x16xf32>, tensor<1x64x3x16xf32>, tensor<1x64x3x16xf32> -> tensor<1x64x8x16xf32>
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @gradients_without_a_plan(%q: tensor<1x64x8x16xf32>, %l: tensor<1x64x8xf32>) {
  // expected-error @below {{'sp.attention_backward' op expected a plan after Plan}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%q, %l) by(%q) bands [] scale 1.0
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}

// -----

sp.mesh @mesh <["sp" = 4]> sequence "sp"
func.func @gradients_in_another_layout(%q: tensor<1x64x8x16xf32>) {
  // expected-note @below {{the other attention}}
  %o, %l = sp.attention(%q, %q, %q) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first>
     : tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32> -> tensor<1x64x8x16xf32>, tensor<1x64x8xf32>
  // expected-error @below {{'sp.attention_backward' op expected one layout for the sequence of 64 positions but got #sp.layout<contiguous 64 on "sp" of 4> beside #sp.layout<zigzag 64 on "sp" of 4>}}
  %dq, %dk, %dv = sp.attention_backward(%q, %q, %q) of(%o, %l) by(%q) bands [] scale 1.0
     plan <axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = contiguous, placement = head_first>
     : (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8xf32>, tensor<1x64x8x16xf32>)
     -> (tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>, tensor<1x64x8x16xf32>)
  return
}
