"""Compiles attention of every row of the compiler's table of tiles for GPUs.

tiles.py [--quick | --all] SP_COMPILE FOLDER: each launch must take the tile of its row; each kernel
must spill no register, or no more than MOST_SPILLED, and come without another warning, which is
what a remark of ptxas on products is, and take its powers while products are computed; but not
where its score function is long or reads each pair.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import spmlir
import tile_table

# Sizes of a head and of a value that take a larger one's tiles.
SMALLER = ((48, 64), (80, 80), (112, 64), (256, 128), (16, 16))
NARROW = ("bfloat16", "float16")
KEYS, HEADS = 48, 2
HEAVY = ("biased", "dropped")
PLAIN = (("float32", 128, 128), ("float64", 64, 64), ("bfloat16", 20, 36), ("float32", 512, 512))
# Bytes, with heads of 256. With 48, 32 and 16 keys at a time ptxas 13.0 makes wrong code of one
# score function each.
MOST_SPILLED = {"segments": 80, "biased": 48, "dropped": 48}
MASKS = {"full": "Whole", "causal": "Masked"}


def scores(length: int) -> dict[str, tuple]:
    """Of the forward kernel, with the shapes and types of what they read."""
    return {
        "capped": (),
        "alibi": (((HEADS,), "float32"),),
        "segments": (((1, length), "int32"),),
        "biased": (((1, HEADS, length, length), "bfloat16"),),
        "dropped": (((2,), "uint32"),),
    }


@dataclass(frozen=True)
class Case:
    """A launch of so many keys on each rank: two are a ring of sums, one leaves the result."""

    kind: str
    dtype: str
    head: int
    value: int
    keys: int = KEYS
    is_plain: bool = False
    ranks: int = 2

    def export(self, folder: Path) -> Path:
        length = self.keys * self.ranks
        shapes = [
            jax.ShapeDtypeStruct((1, length, HEADS, size), self.dtype)
            for size in (self.head, self.head, self.value)
        ]
        shapes += [jax.ShapeDtypeStruct(*each) for each in scores(length).get(self.kind, ())]
        return spmlir.export(partial(attention, self.kind), *shapes).save(folder) / "model.mlir"


def attention(kind: str, q: jax.Array, k: jax.Array, v: jax.Array, *read: jax.Array) -> jax.Array:
    length = q.shape[1]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, "float32"))
    scores = scores * q.shape[-1] ** -0.5
    if kind == "capped":
        scores = 20 * jnp.tanh(scores / 20)
    if kind == "alibi":
        apart = jnp.arange(length)[:, None] - jnp.arange(length)
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


def cases(table: tile_table.Table) -> Iterator[Case]:
    """Each row by a launch that takes it, then sizes between rows, then plain kernels."""
    kinds = {mask: [kind for kind in MASKS if MASKS[kind] == mask] for mask in MASKS.values()}
    kinds["Scored"] = list(scores(0))
    for row in table.rows:
        # One more than any row counts is what only rows of any length fit.
        keys = row.keys or max(KEYS, *(each.keys + 1 for each in table.rows))
        for kind in kinds[row.mask]:
            for dtype in NARROW if row.mask != "Scored" else NARROW[:1]:
                yield Case(kind, dtype, row.head, row.value, keys)
            yield Case(kind, NARROW[0], row.head, row.value, keys, ranks=1)
    for sizes in SMALLER:
        for kind in MASKS:
            yield from (Case(kind, dtype, *sizes) for dtype in NARROW)
        yield from (Case(kind, "bfloat16", *sizes) for kind in kinds["Scored"])
    for plain in PLAIN:
        yield from (Case(kind, *plain, is_plain=True) for kind in ("causal", "capped"))


def problem(case: Case, command: list, table: tile_table.Table) -> str:
    """What is wrong with the one kernel that is compiled, which is printed; or ""."""
    report = Path(command[-1]).with_suffix(".json")
    done = subprocess.run([*command, f"--report={report}"], capture_output=True, text=True, check=False)
    decisions = [] if done.returncode else json.loads(report.read_text())["decisions"]
    compiled = [one for one in decisions if one["text"].startswith("kernel attend_")]
    kernels = [one["text"].removeprefix("kernel ") for one in compiled]
    print(*kernels)
    if len(kernels) != 1:
        return done.stderr or "expected one kernel"
    spilled = compiled[0]["values"]["spilledBytes"]
    if spilled > (MOST_SPILLED.get(case.kind, 0) if (case.head, case.value) == (256, 256) else 0):
        return f"{spilled} bytes of registers are spilled"
    if done.stderr.count(": warning: ") != (spilled > 0):
        return done.stderr
    found = re.search(r"_k(\d+)c(\d+)s(\d+)\S*: .* (\d+) powers", kernels[0])
    if case.is_plain or found is None:
        return "" if case.is_plain and found is None else "expected the plain kernel for just what needs it"
    *tile, powers = map(int, found.groups())
    row = table.find(case.head, case.value, MASKS.get(case.kind, "Scored"), case.keys)
    if tuple(tile) != row.tile:
        return f"expected the tile of {row}"
    # A step takes the powers of half a block of keys, and of two old maxima; caps take more.
    wanted = 0 if case.kind in HEAVY else tile[0] // 2 + 2
    overlaps = powers > wanted if case.kind == "capped" else powers == wanted
    return "" if overlaps else f"expected {wanted} powers that wait for no product"


def main() -> int:
    """Compile all, or one in fourteen."""
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    step = 14 if "--quick" in options else 1
    compiler, folder = [argument for argument in sys.argv[1:] if argument not in options]
    jax.config.update("jax_enable_x64", True)
    table = tile_table.read()
    failures = 0
    for case in list(cases(table))[::step]:
        print(case.kind, case.dtype, case.head, case.value, case.keys, "x", case.ranks, end=": ")
        model = case.export(Path(folder))
        options = [f"--mesh=sp={case.ranks}", "--strategy=ring", "--target=cuda", "--explain"]
        if said := problem(case, [compiler, model, *options, "-o", Path(folder) / "model.spx"], table):
            print(said, file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
