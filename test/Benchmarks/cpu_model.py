"""A whole Llama-style decoder on this machine's processor, beside XLA.

Both run the same exported function, in turn, and are compared within one run; a column says
what XLA takes over what the compiled program takes. The function gives logits, or with
--train a loss and the weights after a step of gradient descent. With --row-blocks each plan
runs with all rows at once, too, and another column says what a rank needs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import llama  # noqa: E402
import spmlir  # noqa: E402
from cpu_attention import processor  # noqa: E402

CONFIG = llama.Config(
    layers=8, width=1024, heads=8, kv_heads=4, head_size=128, hidden=2816, vocabulary=4096, tokens=4096
)
PLANS = {
    "1 rank": ("--mesh=sp=1",),
    "8 ranks, ring": ("--mesh=sp=8", "--strategy=ring", "--layout=zigzag"),
    "8 ranks, auto": ("--mesh=sp=8",),
}


class Compiled:
    """The model under one plan: an artifact, and how long it took to make."""

    def __init__(self, tools: Path, work: Path, name: str) -> None:
        self.tools, self.work = tools, work
        self.artifact = work / f"{name.replace(', ', '-').replace(' ', '-')}.spx"
        self.ranks = int(PLANS[name][0].rpartition("=")[2])
        began = time.perf_counter()
        report = self.artifact.with_suffix(".promise.json")
        self.call("sp-compile", work / "model.mlir", *PLANS[name], "-o", self.artifact, f"--report={report}")
        self.compile_seconds = time.perf_counter() - began
        self.peak = max(json.loads(report.read_text())["peakBytesPerRank"])

    def call(self, tool: str, *arguments: object) -> None:
        done = subprocess.run(
            [self.tools / tool, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stderr}")

    def seconds(self, trace: bool = False) -> float:
        """Of the faster of two runs; results go to a file beside the artifact."""
        threads = max(1, len(os.sched_getaffinity(0)) // self.ranks)
        report = self.artifact.with_suffix(".json")
        self.call(
            "sp-run", self.artifact, f"--inputs={self.work / 'inputs.npz'}", f"--threads={threads}",
            "--warmup=1", "--repeat=2", f"--report={report}",
            f"--outputs={self.artifact.with_suffix('.npz')}",
            *([f"--trace={self.artifact.with_suffix('.trace.json')}"] if trace else []),
        )  # fmt: skip
        return json.loads(report.read_text())["seconds"]["min"]


def main() -> None:
    """Measure, compare the logits, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for model.md or train.md, and traces")
    parser.add_argument("--train", action="store_true", help="a step of training instead of logits")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument("--rounds", type=int, default=3, help="how often each has its turn (3)")
    parser.add_argument("--row-blocks", action="store_true", help="each plan with all rows at once, too")
    args = parser.parse_args()
    if args.row_blocks:
        PLANS.update({f"{name}, one block": (*plan, "--row-blocks=1") for name, plan in PLANS.items()})
    args.out.mkdir(parents=True, exist_ok=True)

    weights, ids = llama.parameters(CONFIG), llama.tokens(CONFIG)

    def decode(weights: dict, ids: jax.Array) -> jax.Array:
        return llama.decoder(CONFIG, weights, ids)

    def loss_of(weights: dict, ids: jax.Array) -> jax.Array:
        logs = jax.nn.log_softmax(decode(weights, ids)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(logs, ids[:, 1:, None], axis=-1))

    def train(weights: dict, ids: jax.Array) -> tuple:
        loss, gradient = jax.value_and_grad(loss_of)(weights, ids)
        return loss, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)

    model = train if args.train else decode
    spmlir.export(model, weights, ids).save(args.out)
    compiled = {name: Compiled(args.build / "bin", args.out, name) for name in PLANS}
    theirs = jax.jit(model)
    weights, ids = jax.device_put((weights, ids))
    expected = [np.asarray(result) for result in jax.tree.leaves(theirs(weights, ids))]
    taken: dict[str, list[float]] = {name: [] for name in ("XLA", *PLANS)}
    for turn in range(args.rounds):
        for _ in range(2):
            began = time.perf_counter()
            jax.block_until_ready(theirs(weights, ids))
            taken["XLA"].append(time.perf_counter() - began)
        for name, program in compiled.items():
            taken[name].append(program.seconds(trace=turn == 0))
    lines = [
        f"{datetime.date.today()}, {processor()}: {CONFIG.layers} layers, width {CONFIG.width}, "
        f"{CONFIG.tokens} tokens, f32, {'a step of training' if args.train else 'logits'}; "
        f"the fastest of {args.rounds} turns",
        "",
        "| | seconds | median | compiled in | XLA / this | largest error | MiB a rank |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, seconds in taken.items():
        row = [name, f"{min(seconds):.2f}", f"{statistics.median(seconds):.2f}", "", "", "", ""]
        if name in compiled:
            program = compiled[name]
            with np.load(program.artifact.with_suffix(".npz")) as results:
                errors = [
                    np.abs(results[f"result{i}"] - result).max() / np.abs(result).max()
                    for i, result in enumerate(expected)
                ]
            ratio = min(taken["XLA"]) / min(seconds)
            row[3:] = [
                f"{program.compile_seconds:.1f} s",
                f"{ratio:.2f}",
                f"{max(errors):.1e}",
                f"{program.peak / 2**20:.0f}",
            ]
        lines.append("| " + " | ".join(row) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    (args.out / f"{'train' if args.train else 'model'}.md").write_text(text)


if __name__ == "__main__":
    main()
