// RUN: sp-opt %s --verify-diagnostics --split-input-file

// Discardable attributes of the dialect.

// expected-error @below {{'func.func' op has attribute 'sp.arena', which the sp dialect does not have on operations; it has sp.shardings,}}
func.func @unknown() attributes {sp.arena = 1 : i64} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.backward' to be a flag but got 1 : i64}}
func.func @no_flag() attributes {sp.backward = 1 : i64} {
  return
}

// -----

func.func @bytes() attributes {sp.arena_bytes = 0 : i64, sp.constant_bytes = 70368744177664 : i64} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.constant_bytes' to be bytes, an i64 from 0 to 2^46, but got -1 : i64}}
func.func @bytes_negative() attributes {sp.arena_bytes = 0 : i64, sp.constant_bytes = -1 : i64} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.arena_bytes' to be bytes, an i64 from 0 to 2^46, but got 70368744177665 : i64}}
func.func @bytes_beyond_memory() attributes {sp.arena_bytes = 70368744177665 : i64} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.arena_bytes' to be bytes, an i64 from 0 to 2^46, but got 64 : i32}}
func.func @bytes_of_another_type() attributes {sp.arena_bytes = 64 : i32} {
  return
}

// -----

// expected-error@+1 {{expected layout of batches alone to hold a number of rows that is enough for 21 positions over 4 owners but got 5}}
func.func private @few(tensor<6xi32> {a = #sp.layout<batch 21 on "sp" of 4 holds 5>})

// -----

// expected-error@+1 {{expected layout of batches alone to hold a number of rows that is enough for 21 positions over 4 owners but got 6}}
func.func private @holds(tensor<6xi32> {a = #sp.layout<zigzag 21 on "sp" of 4 holds 6>})

// -----

// expected-error@+1 {{expected a layout by batches alone to hold a number of positions but got 0}}
func.func private @plan(tensor<6xi32> {a = #sp.plan<axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = batch, placement = head_first>})

// -----

// expected-error@+1 {{expected one ring, in which keys travel one way for all queries at once, to be direct}}
func.func private @ring(tensor<6xi32> {a = #sp.plan<axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, bidirectional = true, direct = true>})

// -----

// expected-error@+1 {{expected rows in parts that divide the 4 ranks, where no ring shares them with heads, but got row_split 3}}
func.func private @ring(tensor<6xi32> {a = #sp.plan<axis = "sp", heads = 1, outer = 1, inner = 4, gather = 1, layout = zigzag, placement = head_first, row_split = 3>})

// -----

// expected-error@+1 {{expected one ring, which turns one way, for a layout by batches but got outer 2, inner 2, gather 1}}
func.func private @windows(tensor<6xi32> {a = #sp.plan<axis = "sp", heads = 1, outer = 2, inner = 2, gather = 1, layout = batch, placement = head_first, holds = 6>})

// -----

// expected-error @below {{'func.func' op expected 'sp.one_row' to be a dimension for each axis but got {sp = -1 : i64}}}
func.func @row_nowhere() attributes {sp.one_row = {sp = -1 : i64}} {
  return
}

// -----

// expected-error @below {{'func.func' op expected 'sp.one_row' to be a dimension for each axis but got {"sp:(2" = 0 : i64}}}
func.func @row_of_no_axis() attributes {sp.one_row = {"sp:(2" = 0 : i64}} {
  return
}
