"""Compiles attention of every size of heads that has tiles of its own for GPUs.

tiles.py [--quick] SP_COMPILE FOLDER: each kernel must come without a warning, which is
what a spilled register and a remark of ptxas on products are, and take its powers while
products are computed.
"""

import re
import subprocess
import sys
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


def attention(causal: bool, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, "float32"))
    scores = scores * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


def main() -> int:
    """Compile all, or one in five."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--quick"]
    compiler, folder = arguments[0], Path(arguments[1])
    jax.config.update("jax_enable_x64", True)
    kinds = [
        (dtype, *sizes, causal) for sizes in SIZES for dtype in ("bfloat16", "float16") for causal in (0, 1)
    ]
    kinds += [(*plain, 1) for plain in PLAIN]
    failures = 0
    for dtype, head, value, causal in kinds[:: 5 if "--quick" in sys.argv else 1]:
        shapes = [jax.ShapeDtypeStruct((1, 96, 2, size), dtype) for size in (head, head, value)]
        model = (
            spmlir.export(lambda *qkv, c=causal: attention(bool(c), *qkv), *shapes).save(folder)
            / "model.mlir"
        )
        command = [
            compiler,
            model,
            "--mesh=sp=2",
            "--strategy=ring",
            "--target=cuda",
            "--emulation",
            "--explain",
        ]
        done = subprocess.run([*command, "-o", folder / "a.spx"], capture_output=True, text=True, check=False)
        kernels = [line.split("kernel ")[1] for line in done.stdout.splitlines() if ": kernel " in line]
        print(dtype, head, value, "causal" if causal else "full", *kernels)
        # A step takes the powers of half a block of keys, and of two old maxima.
        keys = re.search(r"_k(\d+): .* (\d+) powers", "".join(kernels))
        overlaps = keys is None or int(keys[2]) == int(keys[1]) // 2 + 2
        if done.returncode or "warning" in done.stderr or len(kernels) != 1 or not overlaps:
            print(done.stderr, file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
