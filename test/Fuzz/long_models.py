"""long_models.py FOLDER: writes models that are too long to keep, for what recurses in them."""

import sys
from pathlib import Path

TENSOR = "tensor<1x2x8x8xf32>"
ATTENTION = """func.func @main(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
{chain}
  %s = stablehlo.dot_general %{count}, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
    : ({t}, {t}) -> {t}
  %e = stablehlo.exponential %s : {t}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3]
    : ({t}, tensor<f32>) -> tensor<1x2x8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0, 1, 2] : (tensor<1x2x8xf32>) -> {t}
  %w = stablehlo.divide %e, %b : {t}
  %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
    : ({t}, {t}) -> {t}
  return %o : {t}
}}
"""
FUNCTION = """func.func {visible} @{name}(%x: tensor<f32>) -> tensor<f32> {{
  %0 = {operation} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
"""


def attention(count: int, operation: str) -> str:
    """An attention to whose query an operation is applied again and again."""
    head = f"  %one = stablehlo.constant dense<1.0> : {TENSOR}\n  %0 = stablehlo.sine %q : {TENSOR}"
    chain = [head, *(f"  %{i + 1} = " + operation.format(x=f"%{i}", t=TENSOR) for i in range(count))]
    return ATTENTION.format(t=TENSOR, chain="\n".join(chain), count=count)


def calls(count: int) -> str:
    """Functions each of which calls the next one."""
    names = ["main", *(f"f{i}" for i in range(count))]
    operations = [*(f"call @{name}(%x)" for name in names[1:]), "stablehlo.sine %x"]
    visible = ["public"] + ["private"] * count
    parts = zip(visible, names, operations, strict=True)
    return "".join(FUNCTION.format(visible=v, name=n, operation=o) for v, n, o in parts)


MODELS = {
    "calls": calls(10000),
    "transposes": attention(20000, "stablehlo.transpose {x}, dims = [0, 1, 3, 2] : ({t}) -> {t}"),
    "scales": attention(20000, "stablehlo.multiply {x}, %one : {t}"),
}
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, text in MODELS.items():
    (folder / f"{name}.mlir").write_text(text)
