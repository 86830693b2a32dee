"""What --strategy=auto takes and sends: windows beside a full layer, and meshes of thousands of ranks.

Nothing is run: bytes are those that sp-compile promises, seconds its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import llama  # noqa: E402
import spmlir  # noqa: E402

WINDOW = 1024
MOST_SECONDS = 2.0
MOST_FORWARD, MOST_TRAINING = 0.25, 0.25


def windowed(q: jax.Array, k: jax.Array, v: jax.Array, window: int | None) -> jax.Array:
    """Causal attention of (batch, tokens, heads, features) to the last keys, or to all."""
    k, v = (jnp.repeat(x, q.shape[2] // k.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    behind = jnp.arange(q.shape[1])[:, None] - jnp.arange(q.shape[1])[None, :]
    seen = (behind >= 0) & (behind < (window or q.shape[1]))
    scores = jnp.where(seen, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def shapes(tree: object) -> object:
    """The tree as shapes, so that no weights are made."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


def decoder(config: llama.Config, windows: list[int | None], trains: bool, work: Path) -> Path:
    """The text of a decoder whose layers have these windows, or of its loss and gradients."""

    def logits(weights: dict, ids: jax.Array) -> jax.Array:
        x = weights["embedding"][ids]
        for layer, window in zip(weights["layers"], windows, strict=True):
            llama.attention = lambda q, k, v, _=None, window=window: windowed(q, k, v, window)
            x = llama.layer(config, layer, x)
        return llama.rms_norm(x, weights["norm"]) @ weights["logits"]

    def loss(weights: dict, ids: jax.Array) -> jax.Array:
        scores = jax.nn.log_softmax(logits(weights, ids))
        return -jnp.mean(jnp.take_along_axis(scores, ids[..., None], axis=-1))

    one = dataclasses.replace(config, tokens=1)
    ids = jax.ShapeDtypeStruct((1, config.tokens), "int32")
    model = jax.value_and_grad(loss) if trains else logits
    return spmlir.export(model, shapes(llama.parameters(one)), ids).save(work) / "model.mlir"


def planned(build: Path, model: Path, *options: str) -> float:
    """Seconds of a compilation as far as its plan."""
    started = time.monotonic()
    tool = [build / "bin/sp-compile", model, "--emit=plan", *options]
    subprocess.run(tool, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def compiled(build: Path, work: Path, model: Path, *options: str) -> dict:
    """The report of a compilation."""
    report = work / "report.json"
    tool = [build / "bin/sp-compile", model, *options, "-o", work / "model.spx", f"--report={report}"]
    subprocess.run(tool, check=True)
    return json.loads(report.read_text())


def attentions(report: dict) -> int:
    """Bytes that attentions send, of all ranks."""
    return sum(sum(each["bytesSentPerRank"]) for each in report["attentions"])


def wide_meshes(build: Path, work: Path) -> list[str]:
    """What is slower than it should be of choosing for thousands of ranks."""
    problems = []
    base = llama.Config(layers=8, tokens=1 << 17, heads=32, kv_heads=8, vocabulary=256, width=256, hidden=256)
    models = {
        "8 layers": decoder(base, [None] * 8, True, work / "full"),
        "7 windows and a layer": decoder(base, [WINDOW] * 7 + [None], True, work / "windows"),
        "1 layer of 24 tokens": decoder(
            dataclasses.replace(base, layers=1, tokens=24), [None], True, work / "few"
        ),
    }
    for name, model in models.items():
        for ranks in (99999,) if name.endswith("tokens") else (8, 4096, 8192):
            for layout in ("auto", "contiguous", "zigzag", "striped"):
                options = f"--mesh=sp={ranks}", f"--layout={layout}"
                seconds = planned(build, model, *options) - planned(build, model, *options, "--strategy=ring")
                print(f"{name}, {ranks} ranks, {layout}: the choice takes {seconds:.2f} s")
                if seconds > MOST_SECONDS:
                    problems.append(
                        f"{name}, {ranks} ranks, {layout}: {seconds:.1f} s, more than {MOST_SECONDS:.0f}"
                    )
    return problems


def windows_and_a_layer(build: Path, work: Path, heads: int, kv_heads: int, ranks: int) -> list[str]:
    """What five windows beside a full layer send too much of, forward and in training."""
    problems = []
    for trains, tokens, most in ((False, 32768, MOST_FORWARD), (True, 65536, MOST_TRAINING)):
        config = llama.Config(
            layers=6, tokens=tokens, heads=heads, kv_heads=kv_heads, vocabulary=256, width=256, hidden=256
        )
        model = decoder(config, [WINDOW] * 5 + [None], trains, work / f"{tokens}")
        sent = {}
        for strategy in ("auto", "ring"):
            report = compiled(build, work, model, f"--mesh=sp={ranks}", f"--strategy={strategy}")
            sent[strategy] = attentions(report)
            plans = {f"{each['strategy']} {each['heads']} {each['layout']}" for each in report["attentions"]}
            print(
                f"{'training' if trains else 'forward'}, {heads} heads, {kv_heads} kv heads, S={tokens}, "
                f"{ranks} ranks, {strategy}: {sum(report['bytesSentPerRank']) / 2**20:.0f} MiB, of them "
                f"attention {sent[strategy] / 2**20:.0f}; {', '.join(sorted(plans))}"
            )
        share = sent["auto"] / sent["ring"]
        print(f"  beside a ring everywhere: {share:.2f}")
        if ranks == 8 and share > most:
            problems.append(f"{heads} heads, {kv_heads} kv heads, S={tokens}: {share:.2f}, more than {most}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    args = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for heads, kv_heads in ((8, 2), (8, 4), (4, 4)):
            for ranks in (4, 8):
                problems += windows_and_a_layer(args.build, work, heads, kv_heads, ranks)
        problems += wide_meshes(args.build, work)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
