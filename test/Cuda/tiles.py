"""Compiles attention of every size of heads that has tiles of its own for GPUs.

tiles.py [--quick] SP_COMPILE FOLDER: each kernel must come without a warning, which is
what a spilled register and a remark of ptxas on products are, and take its powers while
products are computed.
"""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp

import spmlir

# Sizes of a head and of a value.
SIZES = (
    (64, 64), (48, 64), (96, 96), (80, 80), (128, 128), (112, 64), (192, 128),
    (192, 192), (256, 256), (256, 128), (16, 16),
)  # fmt: skip
PLAIN = (("float32", 128, 128), ("float64", 64, 64), ("bfloat16", 20, 36), ("float32", 512, 512))


def attention(kind: str, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, "float32"))
    scores = scores * q.shape[-1] ** -0.5
    if kind == "capped":
        scores = 20 * jnp.tanh(scores / 20)
    if kind == "causal":
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


def export(kind: str, dtype: str, head: int, value: int, folder: Path) -> Path:
    shapes = [jax.ShapeDtypeStruct((1, 96, 2, size), dtype) for size in (head, head, value)]
    return spmlir.export(partial(attention, kind), *shapes).save(folder) / "model.mlir"


def problem(command: list) -> str:
    """What is wrong with the one kernel that is compiled, which is printed; or ""."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kernels = [line.split("kernel ")[1] for line in done.stdout.splitlines() if ": kernel " in line]
    print(*kernels)
    if done.returncode or done.stderr or len(kernels) != 1:
        return done.stderr or "expected one kernel"
    # A step takes the powers of half a block of keys, and of two old maxima.
    keys = re.search(r"_k(\d+): .* (\d+) powers", kernels[0])
    overlaps = keys is None or int(keys[2]) == int(keys[1]) // 2 + 2
    return "" if overlaps else "powers wait for products"


def main() -> int:
    """Compile all, or one in five."""
    quick = "--quick" in sys.argv
    compiler, folder = [argument for argument in sys.argv[1:] if argument != "--quick"]
    jax.config.update("jax_enable_x64", True)
    narrow = ("bfloat16", "float16")
    kinds = [(kind, dtype, *sizes) for sizes in SIZES for dtype in narrow for kind in ("full", "causal")]
    kinds += [(kind, *plain) for plain in PLAIN for kind in ("causal", "capped")]
    failures = 0
    for kind, dtype, head, value in kinds[:: 5 if quick else 1]:
        print(kind, dtype, head, value, end=": ")
        model = export(kind, dtype, head, value, Path(folder))
        options = ["--mesh=sp=2", "--strategy=ring", "--target=cuda", "--emulation", "--explain"]
        if said := problem([compiler, model, *options, "-o", Path(folder) / "model.spx"]):
            print(said, file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
