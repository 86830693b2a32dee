"""Compiles attention of every size of heads that has tiles of its own for GPUs.

tiles.py [--quick] SP_COMPILE FOLDER: each kernel must spill no register and come without
a warning, which is what a remark of ptxas on products is, and take its powers while
products are computed; but not where its score function is long or reads each pair.
"""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import spmlir

# Sizes of a head and of a value.
SIZES = (
    (64, 64), (48, 64), (96, 96), (80, 80), (128, 128), (112, 64), (192, 128),
    (192, 192), (256, 256), (256, 128), (16, 16),
)  # fmt: skip
# Scores of the forward kernel, with the shapes and types of what they read.
LENGTH, HEADS = 96, 2
SCORES = {
    "capped": (),
    "alibi": (((HEADS,), "float32"),),
    "segments": (((1, LENGTH), "int32"),),
    "biased": (((1, HEADS, LENGTH, LENGTH), "bfloat16"),),
    "dropped": (((2,), "uint32"),),
}
HEAVY = ("biased", "dropped")
PLAIN = (("float32", 128, 128), ("float64", 64, 64), ("bfloat16", 20, 36), ("float32", 512, 512))


def attention(kind: str, q: jax.Array, k: jax.Array, v: jax.Array, *read: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, "float32"))
    scores = scores * q.shape[-1] ** -0.5
    if kind == "capped":
        scores = 20 * jnp.tanh(scores / 20)
    if kind == "alibi":
        apart = jnp.arange(LENGTH)[:, None] - jnp.arange(LENGTH)
        scores = scores - read[0][None, :, None, None] * jnp.abs(apart)
    if kind == "segments":
        scores = jnp.where(read[0][:, None, :, None] == read[0][:, None, None, :], scores, -jnp.inf)
    if kind == "biased":
        scores = scores + read[0]
    if kind == "causal":
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    weights = jax.nn.softmax(scores)
    if kind == "dropped":
        weights = jnp.where(
            jax.random.bernoulli(read[0], np.float32(0.75), weights.shape), weights / 0.75, 0.0
        )
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


def export(kind: str, dtype: str, head: int, value: int, folder: Path) -> Path:
    shapes = [jax.ShapeDtypeStruct((1, LENGTH, HEADS, size), dtype) for size in (head, head, value)]
    shapes += [jax.ShapeDtypeStruct(*each) for each in SCORES.get(kind, ())]
    return spmlir.export(partial(attention, kind), *shapes).save(folder) / "model.mlir"


def problem(command: list, kind: str) -> str:
    """What is wrong with the one kernel that is compiled, which is printed; or ""."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kernels = [line.split("kernel ")[1] for line in done.stdout.splitlines() if ": kernel attend_" in line]
    print(*kernels)
    if done.returncode or done.stderr or len(kernels) != 1:
        return done.stderr or "expected one kernel"
    if " 0 bytes spilled" not in kernels[0]:
        return "registers are spilled"
    # A step takes the powers of half a block of keys, and of two old maxima; caps take more.
    found = re.search(r"_k(\d+)\S*: .* (\d+) powers", kernels[0])
    if found is None:
        return ""
    powers, wanted = int(found[2]), 0 if kind in HEAVY else int(found[1]) // 2 + 2
    overlaps = powers > wanted if kind == "capped" else powers == wanted
    return "" if overlaps else f"expected {wanted} powers that wait for no product"


def main() -> int:
    """Compile all, or one in five."""
    quick = "--quick" in sys.argv
    compiler, folder = [argument for argument in sys.argv[1:] if argument != "--quick"]
    jax.config.update("jax_enable_x64", True)
    narrow = ("bfloat16", "float16")
    kinds = [(kind, dtype, *sizes) for sizes in SIZES for dtype in narrow for kind in ("full", "causal")]
    kinds += [(kind, "bfloat16", *sizes) for kind in SCORES for sizes in SIZES]
    kinds += [(kind, *plain) for plain in PLAIN for kind in ("causal", "capped")]
    failures = 0
    for kind, dtype, head, value in kinds[:: 5 if quick else 1]:
        print(kind, dtype, head, value, end=": ")
        model = export(kind, dtype, head, value, Path(folder))
        options = ["--mesh=sp=2", "--strategy=ring", "--target=cuda", "--emulation", "--explain"]
        if said := problem([compiler, model, *options, "-o", Path(folder) / "model.spx"], kind):
            print(said, file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
