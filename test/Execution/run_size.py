"""What must not grow: temporary memory with the square of S, plan and compile time with P.

Prints what it measured, so that the numbers can be quoted.
"""

from __future__ import annotations

import resource
import statistics
import time
from pathlib import Path

import jax
import jax.numpy as jnp

import attentions
import harness

LONG = 65536
KIND = attentions.Attention(8, 8, 64, True, "float32")
# Times the rank's own q; what all-gather adds is the gathered k and v, twice q of every rank.
TEMPORARIES = {"ring": 8, "ulysses": 8, "allgather": 3}


def long_attention(tools: harness.Tools) -> Path:
    """The text of one causal attention over 65 536 tokens."""
    import spmlir

    shape = jax.ShapeDtypeStruct((1, LONG, KIND.heads, KIND.head_size), KIND.dtype)
    return spmlir.export(KIND, shape, shape, shape).save(tools.work / "long") / "model.mlir"


def gpt2(tools: harness.Tools) -> Path:
    """The text of a 12-layer model of GPT-2 small's size, layers written out."""
    import models
    import spmlir

    width, tokens = 768, 1024

    def model(ids: jax.Array, table: jax.Array, positions: jax.Array, layers: list) -> jax.Array:
        x = table[ids] + positions
        for layer in layers:
            y = models.layer_norm(x)
            q, k, v = jnp.split((y @ layer["qkv"]).reshape(*x.shape[:2], -1, 64), 3, axis=2)
            y = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape)
            x = x + y @ layer["o"]
            x = x + jax.nn.gelu(models.layer_norm(x) @ layer["up"]) @ layer["down"]
        return models.layer_norm(x) @ table.T

    def shape(*sizes: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(sizes, "float32")

    layer = {
        "qkv": shape(width, 3 * width),
        "o": shape(width, width),
        "up": shape(width, 4 * width),
        "down": shape(4 * width, width),
    }
    ids = jax.ShapeDtypeStruct((1, tokens), "int32")
    arguments = ids, shape(50257, width), shape(tokens, width), [layer] * 12
    return spmlir.export(model, *arguments).save(tools.work / "gpt2") / "model.mlir"


def compiled(tools: harness.Tools, model: Path, *options: str) -> tuple[Path, float]:
    """The artifact and the processor seconds that making it took."""
    artifact = tools.work / "size.spx"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tools.run("sp-compile", model, "-o", artifact, *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return artifact, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memory(tools: harness.Tools, model: Path, run: bool) -> list[str]:
    """Temporary memory of the long attention is a small multiple of the rank's own q."""
    problems = []
    own = LONG // 8 * KIND.heads * KIND.head_size * 4
    for strategy, times in TEMPORARIES.items():
        options = "--mesh=sp=8", f"--strategy={strategy}"
        report = tools.work / "size.json"
        artifact, _ = compiled(tools, model, *options, f"--report={report}")
        peak = max(harness.read_report(report)["peakBytesPerRank"])
        # q, k, v and the result are no temporaries.
        temporary = (peak - 4 * own) / own - (16 if strategy == "allgather" else 0)
        print(f"{strategy}: temporary memory {temporary:.2f} x q")
        if temporary > times:
            problems.append(f"{strategy}: temporary memory is {temporary:.2f} times q, more than {times}")
        if run:
            began = time.monotonic()
            tools.run("sp-run", artifact, "--random-inputs=1", f"--report={report}")
            print(f"{strategy}: ran in {time.monotonic() - began:.1f} s")
            if max(harness.read_report(report)["peakBytesPerRank"]) > peak:
                problems.append(f"{strategy}: peak memory is above the promise")
    return problems


def scaling(tools: harness.Tools, model: Path, times: int) -> list[str]:
    """Compile time and artifact size for 8 and for 4 096 ranks."""
    problems = []
    for strategy in ("ring", "allgather"):
        sizes, seconds = [], []
        for ranks in (8, 4096):
            options = f"--mesh=sp={ranks}", f"--strategy={strategy}"
            runs = [compiled(tools, model, *options) for _ in range(times)]
            sizes.append(runs[0][0].stat().st_size)
            seconds.append(statistics.median(taken for _, taken in runs))
        print(f"{strategy}: {sizes[0]} and {sizes[1]} bytes, {seconds[0]:.2f} and {seconds[1]:.2f} s")
        if abs(sizes[1] - sizes[0]) > 0.01 * sizes[0]:
            problems.append(f"{strategy}: artifacts of 8 and 4096 ranks have {sizes[0]} and {sizes[1]} bytes")
        if times > 1 and seconds[1] > 1.1 * seconds[0]:
            problems.append(f"{strategy}: compiling took {seconds[0]:.2f} s and {seconds[1]:.2f} s")
    return problems


def main() -> int:
    """Measure everything; with --quick only what needs no run and no clock."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    model = long_attention(tools)
    problems = memory(tools, model, run=not args.quick)
    problems += scaling(tools, model, 1 if args.quick else 5)
    if not args.quick:
        _, seconds = compiled(tools, gpt2(tools), "--mesh=sp=8", "--strategy=ring")
        print(f"12 layers of GPT-2 small's size compile in {seconds:.2f} s of one core")
        if seconds > 10:
            problems.append(f"the 12-layer model took {seconds:.1f} s to compile, more than 10")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
