"""A step of training with far memory: in memory, in a file, and without, in turns within one run.

A column says what compute waits for copies: for events of the streams `in` and `out`, or, where
ranks share cores and one thread does all, for the copies themselves.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import llama  # noqa: E402
from cpu_attention import processor  # noqa: E402
from spmlir.exported import lower  # noqa: E402

KINDS = {"near": "none", "host": "host", "host, file": "host", "host+state": "host+state"}


def step(config: llama.Config, weights: dict, momentum: dict, ids: jax.Array) -> tuple:
    """Of gradient descent with momentum, each layer a checkpoint."""
    layer = jax.checkpoint(functools.partial(llama.layer, config))

    def loss(weights: dict) -> jax.Array:
        x = weights["embedding"][ids]
        for each in weights["layers"]:
            x = layer(each, x)
        logs = jax.nn.log_softmax(llama.rms_norm(x, weights["norm"]) @ weights["logits"])
        return -jnp.mean(jnp.take_along_axis(logs[:, :-1], ids[:, 1:, None], axis=-1))

    value, slopes = jax.value_and_grad(loss)(weights)
    momentum = jax.tree.map(lambda each, slope: 0.9 * each + slope, momentum, slopes)
    return jax.tree.map(lambda each, slope: each - 0.01 * slope, weights, momentum), momentum, value


class Compiled:
    """The step with one --offload, and where its far memory lies."""

    def __init__(self, args: argparse.Namespace, kind: str) -> None:
        self.args, self.kind = args, kind
        self.artifact = args.out / f"{re.sub('[^a-z]+', '-', kind)}.spx"
        model, options = args.out / "model.mlir", [*args.options, f"--offload={KINDS[kind]}"]
        promise = self.artifact.with_suffix(".promise.json")
        self.call("sp-compile", model, *options, "-o", self.artifact, f"--report={promise}")
        self.promise = json.loads(promise.read_text())
        self.copies, self.waits = self.find(self.call("sp-compile", model, *options, "--emit=commands"))
        self.seconds: list[float] = []
        self.exposed: list[float] = []

    def call(self, tool: str, *arguments: object) -> str:
        command = [self.args.build / "bin" / tool, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stderr}")
        return done.stdout

    @staticmethod
    def find(text: str) -> tuple[set[int], set[int]]:
        """Numbers of the copies from and to far memory, and of what waits for them."""
        copies, events, waits = set(), set(), set()
        for line in text.splitlines():
            number = re.match(r" *(\d+)  ", line)
            if number and re.search(r"stream (in|out)\b", line):
                copies.add(int(number[1]))
                events |= set(re.findall(r"-> (e\d+)", line))
            elif number and "sync" in line and set(re.findall(r"\be\d+", line)) & events:
                waits.add(int(number[1]))
        return copies, waits

    def run(self) -> None:
        """Twice, of which the second one counts."""
        report, outputs = self.artifact.with_suffix(".json"), self.artifact.with_suffix(".npz")
        far = [f"--far={self.args.out}"] if self.kind.endswith("file") else []
        self.call(
            "sp-run", self.artifact, f"--inputs={self.args.out / 'inputs.npz'}", "--warmup=1", "--repeat=1",
            f"--report={report}", f"--outputs={outputs}", *far,
        )  # fmt: skip
        measured = json.loads(report.read_text())
        self.seconds.append(measured["seconds"]["min"])
        commands = {each["command"]: each for each in measured["commands"]}
        ranks, threads = self.promise["ranks"], len(os.sched_getaffinity(0))
        if ranks > threads:
            exposed = sum(commands[each]["seconds"]["min"] for each in self.copies if each in commands)
        else:
            exposed = sum(commands[each]["waitSeconds"] for each in self.waits if each in commands)
        self.exposed.append(exposed / self.seconds[-1])

    def row(self, expected: list[np.ndarray]) -> str:
        """Of the table."""
        with np.load(self.artifact.with_suffix(".npz")) as results:
            differ = sum(not np.array_equal(results[f"result{i}"], one) for i, one in enumerate(expected))

        def mebibytes(name: str) -> str:
            return f"{max(self.promise.get(name, [0])) / 2**20:.0f}"

        sizes = [
            mebibytes(f"{name}PerRank") for name in ("peakBytes", "farPeakBytes", "farWritten", "farRead")
        ]
        seconds = f"{min(self.seconds):.2f} | {statistics.median(self.seconds):.2f}"
        return f"| {self.kind} | {seconds} | {' | '.join(sizes)} | {min(self.exposed):.1%} | {differ} |"


def main() -> None:
    """Measure, compare the results, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for far.md, models and far memory")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument("--tokens", type=int, default=16384, help="of the sequence (16384)")
    parser.add_argument("--layers", type=int, default=4, help="of the model (4)")
    parser.add_argument("--width", type=int, default=1024, help="of the model, a multiple of 256 (1024)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="default all")
    parser.add_argument("--rounds", type=int, default=2, help="how often each has its turn (2)")
    parser.add_argument("--ranks", type=int, default=2, help="of a ring (2)")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.options = [f"--mesh=sp={args.ranks}", "--strategy=ring", "--layout=zigzag", "--row-blocks=16"]
    config = llama.Config(
        layers=args.layers, width=args.width, heads=args.width // 128, kv_heads=args.width // 256,
        head_size=128, hidden=args.width * 11 // 4, vocabulary=4096, tokens=args.tokens,
    )  # fmt: skip
    weights = llama.parameters(config)
    momentum = jax.tree.map(np.zeros_like, weights)
    donating = jax.jit(functools.partial(step, config), donate_argnums=(0, 1), keep_unused=True)
    lower(donating, (weights, momentum, llama.tokens(config)), {}).save(args.out)
    compiled = [Compiled(args, kind) for kind in args.kinds]
    for _ in range(args.rounds):
        for program in compiled:
            program.run()
    with np.load(compiled[0].artifact.with_suffix(".npz")) as results:
        expected = [results[f"result{i}"] for i in range(len(results.files))]
    lines = [
        f"{datetime.date.today()}, {processor()}: a step of training, {args.layers} layers, "
        f"width {args.width}, each a checkpoint, {args.tokens} tokens, f32, ring of {args.ranks}; "
        f"best of {args.rounds} turns",
        "",
        "| --offload | seconds | median | MiB a rank | far MiB | written | read | exposed | different |",
        "|---|---|---|---|---|---|---|---|---|",
        *(program.row(expected) for program in compiled),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    (args.out / "far.md").write_text(text)


if __name__ == "__main__":
    main()
