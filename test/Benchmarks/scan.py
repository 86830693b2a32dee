"""A decoder whose layers are a scan, beside the same with its layers written out.

Both are logits, or with --train a step of gradient descent, on the ranks of a ring; a column
says what the scan takes of the time and of a rank's peak memory that the other takes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / folder) for folder in ("python", "python/examples")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import llama  # noqa: E402
import spmlir  # noqa: E402
from cpu_attention import processor  # noqa: E402

MIB = 2**20


def scanned(config: llama.Config, weights: dict, ids: jax.Array) -> jax.Array:
    """Logits of a decoder whose layers lie in stacks."""

    def layer(x: jax.Array, each: dict) -> tuple[jax.Array, None]:
        return llama.layer(config, each, x), None

    x, _ = jax.lax.scan(layer, weights["embedding"][ids], weights["layers"])
    return llama.rms_norm(x, weights["norm"]) @ weights["logits"]


def step(decode, train: bool):
    """The function that is compiled."""
    if not train:
        return decode

    def loss_of(weights: dict, ids: jax.Array, labels: jax.Array) -> jax.Array:
        logs = jax.nn.log_softmax(decode(weights, ids))
        return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))

    def one_step(weights: dict, ids: jax.Array, labels: jax.Array) -> tuple:
        loss, gradient = jax.value_and_grad(loss_of)(weights, ids, labels)
        return loss, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)

    return one_step


class Compiled:
    """One of both forms: an artifact, its inputs and what a run takes."""

    def __init__(self, build: Path, work: Path, options: list[str], model, *arguments) -> None:
        work.mkdir(parents=True)
        self.bin, self.work = build / "bin", work
        spmlir.export(model, *arguments).save(work)
        self.call("sp-compile", work / "model.mlir", *options, "-o", work / "model.spx")

    def call(self, tool: str, *arguments: object) -> None:
        done = subprocess.run(
            [self.bin / tool, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stderr}")

    def run(self) -> dict:
        report = self.work / "run.json"
        self.call(
            "sp-run", self.work / "model.spx", f"--inputs={self.work / 'inputs.npz'}", "--threads=1",
            "--warmup=1", "--repeat=2", f"--report={report}", f"--outputs={self.work / 'outputs.npz'}",
        )  # fmt: skip
        return json.loads(report.read_text())

    def first(self) -> np.ndarray:
        with np.load(self.work / "outputs.npz") as results:
            return results["result0"]


def in_turn(made: dict[str, Compiled], rounds: int, figure: str) -> tuple[dict[str, float], dict[str, int]]:
    """Least seconds of each form over rounds in which all take turns, and its largest figure of a rank."""
    reports = [{name: form.run() for name, form in made.items()} for _ in range(rounds)]
    seconds = {name: min(each[name]["seconds"]["min"] for each in reports) for name in made}
    return seconds, {name: max(reports[-1][name][figure]) for name in made}


def main() -> None:
    """Compile both, run them in turn, print one row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help="a step of training instead of logits")
    parser.add_argument("--layers", type=int, default=24, help="of the decoder (24)")
    parser.add_argument("--tokens", type=int, default=1024, help="length of the sequence (1 024)")
    parser.add_argument("--width", type=int, default=256, help="of the decoder (256)")
    parser.add_argument("--ranks", type=int, default=2, help="of the ring (2)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each has its turn (3)")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    args = parser.parse_args()
    config = llama.Config(
        layers=args.layers, tokens=args.tokens, width=args.width, hidden=3 * args.width,
        heads=args.width // 64, kv_heads=args.width // 128, head_size=64, vocabulary=512,
    )  # fmt: skip
    weights, ids = llama.parameters(config), llama.tokens(config)
    stacked = {**weights, "layers": jax.tree.map(lambda *each: np.stack(each), *weights["layers"])}
    extra = (np.roll(ids, -1, axis=1),) if args.train else ()
    options = [f"--mesh=sp={args.ranks}", "--strategy=ring"]

    def written_out(weights: dict, ids: jax.Array) -> jax.Array:
        return llama.decoder(config, weights, ids)

    def as_scan(weights: dict, ids: jax.Array) -> jax.Array:
        return scanned(config, weights, ids)

    with tempfile.TemporaryDirectory() as folder:
        made = {
            "written out": Compiled(
                args.build, Path(folder) / "out", options, step(written_out, args.train), weights, ids, *extra
            ),
            "scan": Compiled(
                args.build, Path(folder) / "scan", options, step(as_scan, args.train), stacked, ids, *extra
            ),
        }
        seconds, most = in_turn(made, args.rounds, "peakBytesPerRank")
        peak = {name: most[name] / MIB for name in made}
        ours, theirs = made["scan"].first(), made["written out"].first()
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    print(
        f"{datetime.date.today()}, {processor()}: {args.layers} layers, width {args.width}, "
        f"{args.tokens} tokens, f32, {'a step of training' if args.train else 'logits'}, {args.ranks} ranks\n"
    )
    print("| | seconds | peak a rank, MiB |\n|---|---|---|")
    for name in made:
        print(f"| {name} | {seconds[name]:.2f} | {peak[name]:.1f} |")
    ratios = [figures["scan"] / figures["written out"] for figures in (seconds, peak)]
    print(f"| scan / written out | {ratios[0]:.2f} | {ratios[1]:.2f} |\n\nlargest error {error:.1e}")


if __name__ == "__main__":
    main()
