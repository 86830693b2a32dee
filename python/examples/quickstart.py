"""The main job: a decoder from JAX on eight ranks, three strategies, one table.

Exports the decoder of llama.py with JAX's own results, compiles it for a ring,
for Ulysses and for all-gather, runs each, and compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

STRATEGIES = {
    "zigzag ring": ["--strategy=ring", "--layout=zigzag"],
    "Ulysses": ["--strategy=ulysses"],
    "all-gather": ["--strategy=allgather"],
}
# Both sides compute in float32, each with its own order of sums.
TOLERANCE = 1e-4
COMPILE_LIMIT_SECONDS = 5


@dataclass(frozen=True)
class Outcome:
    """One row of the table, and what is wrong with it."""

    cells: tuple[str, ...]
    problems: tuple[str, ...]


def say(text: str) -> None:
    """Progress, for a person who watches."""
    if sys.stderr.isatty():
        print(f"  {text} …", file=sys.stderr)


def export(folder: Path) -> None:
    """Write model.mlir, inputs.npz, JAX's results.npz and row.json, unless they are up to date."""
    sources = [Path(__file__), Path(__file__).with_name("llama.py")]
    stamp = folder / "export.stamp"
    content = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    if stamp.exists() and stamp.read_text() == content:
        return
    say("exporting the decoder from JAX and running it there")
    import jax
    import numpy as np

    import llama
    import spmlir

    config = llama.Config(tokens=4096, kv_heads=4)
    fn = partial(llama.decoder, config)
    arguments = llama.parameters(config), llama.tokens(config)
    began = time.process_time()
    compiled = jax.jit(fn).lower(*arguments).compile()
    compile_seconds = time.process_time() - began
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        results = jax.block_until_ready(compiled(*arguments))
        seconds.append(time.perf_counter() - began)
    memory = compiled.memory_analysis()
    peak = memory.argument_size_in_bytes + memory.temp_size_in_bytes + memory.output_size_in_bytes
    row = cells("JAX, one device", compile_seconds, ("", ""), peak, statistics.median(seconds), "")
    (folder / "row.json").write_text(json.dumps(row))
    spmlir.export(fn, *arguments).save(folder, [np.asarray(result) for result in jax.tree.leaves(results)])
    stamp.write_text(content)


def cells(
    label: str, compile_seconds: float, sent: tuple[str, str], peak: int, seconds: float, error: str
) -> tuple[str, ...]:
    """A row of the table; `sent` are bytes promised and measured, `peak` is in bytes."""
    return (
        label,
        f"{compile_seconds:.1f} s",
        *sent,
        f"{peak / 2**20:.1f} MiB",
        f"{seconds * 1e3:.0f} ms",
        error,
    )


def run(command: list[str]) -> float:
    """Run a tool and return its processor seconds, which another's load does not stretch.

    A failure prints what the tool said and ends the program.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}", file=sys.stderr)
        raise SystemExit(1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one(label: str, options: list[str], tools: Path, folder: Path) -> Outcome:
    """Compile, run and check one strategy."""
    say(label)
    stem = folder / label.replace(" ", "-").lower()
    artifact = f"{stem}.spx"
    promised_file, measured_file = Path(f"{stem}.compile.json"), Path(f"{stem}.run.json")
    compiled = [str(tools / "sp-compile"), str(folder / "model.mlir"), "-o", artifact, "--mesh=sp=8"]
    compile_seconds = run([*compiled, *options, f"--report={promised_file}"])
    checked = [str(tools / "sp-run"), artifact, f"--inputs={folder / 'inputs.npz'}"]
    checked += [f"--check={folder / 'results.npz'}", f"--rtol={TOLERANCE}", f"--atol={TOLERANCE}"]
    run([*checked, f"--report={measured_file}", f"--trace={stem}.trace.json"])
    promised, measured = json.loads(promised_file.read_text()), json.loads(measured_file.read_text())
    problems = []
    if promised["bytesSentPerRank"] != measured["bytesSentPerRank"]:
        problems.append(f"{label}: bytes sent are not what was promised")
    if any(m > p for m, p in zip(measured["peakBytesPerRank"], promised["peakBytesPerRank"], strict=True)):
        problems.append(f"{label}: peak memory is above the promise")
    if compile_seconds > COMPILE_LIMIT_SECONDS:
        problems.append(
            f"{label}: compiling took {compile_seconds:.1f} s, more than {COMPILE_LIMIT_SECONDS} s"
        )
    return Outcome(
        cells(
            label,
            compile_seconds,
            (f"{max(promised['bytesSentPerRank']):,}", f"{max(measured['bytesSentPerRank']):,}"),
            max(measured["peakBytesPerRank"]),
            measured["seconds"]["median"],
            f"{measured['maxRelError']:.1e}",
        ),
        tuple(problems),
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Columns as wide as their widest cell, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row: tuple[str, ...]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        return "  ".join([row[0].ljust(widths[0]), *cells[1:]])

    return "\n".join([line(rows[0]), "  ".join("─" * width for width in widths), *map(line, rows[1:])])


def main() -> int:
    """Run everything; the exit status is 1 when anything is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build"), help="the build folder")
    build = parser.parse_args().build
    folder = build / "quickstart"
    folder.mkdir(parents=True, exist_ok=True)
    export(folder)
    outcomes = [one(label, options, build / "bin", folder) for label, options in STRATEGIES.items()]
    heading = ("strategy", "compile", "bytes promised", "bytes sent", "peak memory", "time", "largest error")
    print("A decoder of 4 layers, 4096 tokens, on 8 ranks, against JAX (bytes, memory: largest rank)\n")
    jax_row = json.loads((folder / "row.json").read_text())
    print(table([heading, *(outcome.cells for outcome in outcomes), jax_row]))
    traces = ", ".join(sorted(path.name for path in folder.glob("*.trace.json")))
    print(f"\nTraces for https://ui.perfetto.dev are in {folder}: {traces}")
    problems = [problem for outcome in outcomes for problem in outcome.problems]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
