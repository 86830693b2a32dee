"""Attention on this machine's processor, beside its peak and what others reach.

One rank and eight (in the plan the compiler chooses, and as a ring) take turns, and the
f32 multiply-add peak is measured between any two of a case; the fastest run and the
largest peak count. Only visible pairs count as work, so causal is half of full. With
--gradients, forward and backward together, which are 3.5 forwards of work.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import peers
from peak import Peak

REPOSITORY = Path(__file__).resolve().parents[2]
HEADS = 2
USP = "usp-ring"
PLANS: dict[str, tuple[int, list[str]]] = {
    "1 rank": (1, []),
    "8 ranks, auto": (8, []),
    "8 ranks, ring": (8, ["--strategy=ring"]),
}


@dataclass(frozen=True)
class Case:
    """One attention: B = 1, HEADS heads; window 0 is none."""

    tokens: int
    size: int
    mask: str
    dtype: str
    window: int = 0
    gradients: bool = False

    def flops(self) -> float:
        """Two products of `size` multiply-adds for each visible pair, seven with gradients."""
        if self.mask == "full":
            pairs = self.tokens**2
        else:
            reach = self.window or self.tokens
            pairs = reach * (reach + 1) // 2 + (self.tokens - reach) * reach
        return (14.0 if self.gradients else 4.0) * HEADS * pairs * self.size

    def label(self) -> str:
        return f"S={self.tokens} D={self.size} {self.mask} {self.dtype}"


@dataclass(frozen=True)
class Result:
    """One row of the CSV file."""

    tokens: int
    head_size: int
    mask: str
    dtype: str
    subject: str
    min_seconds: float
    median_seconds: float
    gflops: float
    peak_gflops: float
    fraction: float


def cases(quick: bool, gradients: bool) -> Iterator[Case]:
    if gradients:
        for dtype in ("float32", "bfloat16"):
            for size in (128,) if quick else (64, 128):
                for mask in ("full", "causal"):
                    yield Case(8192, size, mask, dtype, gradients=True)
        return
    for dtype in ("float32", "bfloat16"):
        for size in (128,) if quick else (64, 128, 256):
            for mask in ("full", "causal"):
                yield Case(8192, size, mask, dtype)
            if not quick:
                yield Case(32768, size, "window 512", dtype, window=512)


class Machine:
    """Runs the subjects and the peak beside them."""

    def __init__(self, build: Path, out: Path, torch: str, runs: int, turns: int) -> None:
        self.build, self.work, self.torch, self.runs, self.turns = build, out / "work", torch, runs, turns
        self.work.mkdir(parents=True, exist_ok=True)
        self.cores = len(os.sched_getaffinity(0))
        self.peak = Peak(self.work, self.cores)

    def tool(self, name: str, *arguments: object) -> None:
        command = [self.build / "bin" / name, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")

    def model(self, case: Case) -> Path:
        """The text of the attention, as a model would write it."""
        import jax
        import jax.numpy as jnp

        import spmlir

        def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
            scores = scores * case.size**-0.5
            if case.mask != "full":
                i, j = jnp.arange(case.tokens)[:, None], jnp.arange(case.tokens)[None, :]
                seen = (j <= i) & (j > i - case.window) if case.window else j <= i
                scores = jnp.where(seen, scores, -jnp.inf)
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)

        def both(q: jax.Array, k: jax.Array, v: jax.Array, cotangent: jax.Array) -> tuple:
            result, pull = jax.vjp(attention, q, k, v)
            return result, *pull(cotangent)

        shape = jax.ShapeDtypeStruct((1, case.tokens, HEADS, case.size), case.dtype)
        exported = (
            spmlir.export(both, *[shape] * 4) if case.gradients else spmlir.export(attention, *[shape] * 3)
        )
        return exported.save(self.work / "model") / "model.mlir"

    def compiled(self, model: Path, plan: str) -> Callable[[], list[float]]:
        """What runs the compiled attention: seconds of the fastest and the median run."""
        ranks, strategy = PLANS[plan]
        artifact, report = self.work / f"{plan}.spx", self.work / "report.json"
        self.tool("sp-compile", model, "-o", artifact, f"--mesh=sp={ranks}", *strategy)
        threads = max(1, self.cores // ranks)

        def run() -> list[float]:
            self.tool(
                "sp-run", artifact, "--random-inputs=1", f"--threads={threads}", "--warmup=1",
                f"--repeat={self.runs}", f"--report={report}",
            )  # fmt: skip
            seconds = json.loads(report.read_text())["seconds"]
            return [seconds["min"], seconds["median"]]

        return run

    def peer(self, case: Case, name: str) -> list[float] | None:
        """The same of a peer, or None where it is not installed or has no window."""
        if case.window:
            return None
        sizes = HEADS, case.tokens, case.size, case.mask, case.dtype, min(self.runs, 3)
        if name == USP and case.gradients:
            return None
        if name == USP:
            command = [self.torch, Path(__file__).with_name("peer_usp.py"), *sizes]
        else:
            python = self.torch if name == "torch" else sys.executable
            command = [python, peers.__file__, name, *sizes, *(["gradients"] if case.gradients else [])]
        command = [str(argument) for argument in command]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{case.label()}: {name} failed\n{done.stderr[-2000:]}", file=sys.stderr)
        if done.returncode or not done.stdout.strip():
            return None
        seconds = json.loads(done.stdout.splitlines()[-1])
        return [min(seconds), statistics.median(seconds)]

    def results(self, case: Case, with_peers: bool) -> Iterator[Result]:
        model = self.model(case)
        ours = {plan: self.compiled(model, plan) for plan in PLANS}
        others = (*peers.PEERS, USP) if with_peers else ()
        timed: dict[str, list[list[float]]] = {}
        peaks = [self.peak.measure()]
        for turn in range(self.turns):
            subjects = ours if turn else ours | {name: partial(self.peer, case, name) for name in others}
            for subject, run in subjects.items():
                if (seconds := run()) is not None:
                    timed.setdefault(subject, []).append(seconds)
                peaks.append(self.peak.measure())
        top = max(peaks)
        for subject, turns in timed.items():
            least = min(fastest for fastest, _ in turns)
            median = statistics.median(median for _, median in turns)
            rate = case.flops() / least
            yield Result(
                case.tokens, case.size, case.mask, case.dtype, subject, least, median,
                round(rate / 1e9, 1), round(top / 1e9, 1), round(rate / top, 3),
            )  # fmt: skip


def processor() -> str:
    text = Path("/proc/cpuinfo").read_text()
    name, family, model = (
        found[1] if (found := re.search(rf"^{key}\s*: (.*)", text, re.MULTILINE)) else "unknown"
        for key in ("model name", "cpu family", "model")
    )
    dots = "avx512_bf16" if "avx512_bf16" in text else "no avx512_bf16"
    return f"{name} (family {family} model {model}; {dots}), {len(os.sched_getaffinity(0))} cores"


def table(results: list[Result], title: str) -> str:
    """A row for each case, a column for each subject: fraction of the peak (GFLOP/s)."""
    subjects = list(dict.fromkeys(result.subject for result in results))
    rows: dict[tuple, dict[str, Result]] = {}
    for result in results:
        key = result.dtype, result.head_size, result.mask, result.tokens
        rows.setdefault(key, {})[result.subject] = result
    one, *eight = PLANS
    ratios = [plan.removeprefix("8 ranks, ") + " / 1" for plan in eight]
    columns = ["type", "D", "mask", "S", "peak", *subjects, *ratios]
    lines = [title, "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for (dtype, size, mask, tokens), row in rows.items():
        cells = [
            f"{row[name].fraction:.2f} ({row[name].gflops:.0f})" if name in row else "" for name in subjects
        ]
        slower = [f"{row[plan].min_seconds / row[one].min_seconds:.2f}" for plan in eight]
        top = max(result.peak_gflops for result in row.values())
        cells = [dtype, size, mask, tokens, f"{top:.0f}", *cells, *slower]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def plot(results: list[Result], path: Path, title: str) -> None:
    """Fractions of the peak as bars, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    subjects = list(dict.fromkeys(result.subject for result in results))
    labels = list(dict.fromkeys((r.dtype, r.head_size, r.mask) for r in results))
    figure, axes = pyplot.subplots(figsize=(max(6, len(labels)), 4), layout="constrained")
    width = 0.8 / len(subjects)
    for i, subject in enumerate(subjects):
        mine = {(r.dtype, r.head_size, r.mask): r.fraction for r in results if r.subject == subject}
        heights = [mine.get(label, 0) for label in labels]
        axes.bar([x + i * width for x in range(len(labels))], heights, width, label=subject)
    names = [f"{dtype}\nD={size}\n{mask}" for dtype, size, mask in labels]
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(labels))], names, fontsize=7)
    axes.set_ylabel("fraction of the f32 peak")
    axes.set_title(title, fontsize=8)
    axes.legend(fontsize=7)
    figure.savefig(path)


def main() -> None:
    """Measure, print the table, write table, CSV and plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for attention.md, .csv and .svg, or gradients.*"
    )
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each in a turn (5)")
    parser.add_argument("--turns", type=int, default=4, help="turns of one rank and eight (4)")
    parser.add_argument("--quick", action="store_true", help="D=128 only")
    parser.add_argument("--gradients", action="store_true", help="forward and backward together")
    parser.add_argument("--no-peers", action="store_true", help="without XLA, torch and USP")
    parser.add_argument(
        "--torch", default=sys.executable, help="a Python that has torch, and yunchang for USP"
    )
    args = parser.parse_args()
    sys.path.insert(0, str(REPOSITORY / "python"))

    machine = Machine(args.build, args.out, args.torch, args.runs, args.turns)
    title = f"{datetime.date.today()}, {processor()}: fraction of the f32 peak (GFLOP/s), B=1 H={HEADS}"
    if args.gradients:
        title += ", forward and backward"
    results = []
    for case in cases(args.quick, args.gradients):
        for result in machine.results(case, not args.no_peers):
            results.append(result)
            print(
                f"{case.label()}, {result.subject}: {result.fraction:.3f} of {result.peak_gflops}", flush=True
            )
    text = table(results, title)
    print(text)
    stem = "gradients" if args.gradients else "attention"
    (args.out / f"{stem}.md").write_text(text)
    with open(args.out / f"{stem}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, asdict(results[0]))
        writer.writeheader()
        writer.writerows(map(asdict, results))
    plot(results, args.out / f"{stem}.svg", title)


if __name__ == "__main__":
    main()
