"""captured_weights.py FILE: a layer whose weights, 256 KiB, the model has captured."""

import pathlib
import sys

import numpy as np

TYPES = "(tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>"
weights = np.random.default_rng(1).standard_normal((256, 256)).astype(np.float32)
pathlib.Path(sys.argv[1]).write_text(f"""
func.func public @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {{
  %w = stablehlo.constant dense<"0x{weights.tobytes().hex().upper()}"> : tensor<256x256xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : {TYPES}
  return %0 : tensor<64x256xf32>
}}
""")
