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
