"""What sp-compile makes of programs under every strategy, to compare before and after a change of structure.

    record_plans.py --build=BUILD --work=DIR --to=before.json
    record_plans.py --build=BUILD --work=DIR --against=before.json

Artifacts of the same compiler are the same bytes, machine code among them: a change that is to change nothing
leaves every digest as it was. Where one differs, what a rank sends and needs tells whether that matters.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax

import attentions
import harness
import models_training
import run_exported
import run_matrix

RANKS = (1, 4, 6, 8)
LENGTHS = (37, 48)
PLANS = (
    "--mesh=sp=4 --strategy=ring",
    "--mesh=sp=4 --strategy=ulysses --layout=contiguous",
    "--mesh=dp=2,sp=2 --strategy=allgather",
    "--mesh=sp=8 --strategy=2d --heads=2",
    "--mesh=sp=4 --strategy=auto",
    "--mesh=sp=2 --strategy=ring --target=cuda --emulation",
)
KEPT = ("attentions", "bytesSentPerRank", "peakBytesPerRank", "constantBytes", "flopsPerRank")


def texts(work: Path) -> Iterator[Path]:
    """Programs: masks and groups of heads, training steps, and exported models."""
    import spmlir

    def save(name: str, function: object, *arguments: object) -> Path:
        spmlir.export(function, *arguments).save(work / name)
        return work / name / "model.mlir"

    for length in LENGTHS:
        kinds = list(attentions.every(1))
        triples = [kind.arrays(length, length, seed) for seed, kind in enumerate(kinds)]

        def model(triples: list, kinds: list = kinds) -> list[jax.Array]:
            return [kind(*triple) for kind, triple in zip(kinds, triples, strict=True)]

        yield save(f"matrix-{length}", model, triples)
    for name, make in models_training.TRAINING.items():
        function, arguments, _ = make()
        yield save(f"training-{name}", function, *arguments)
    for path in sorted(run_exported.FOLDER.glob("*.mlir.gz")):
        text = work / path.name.removesuffix(".gz")
        text.write_bytes(gzip.decompress(path.read_bytes()))
        yield text


def plans(text: Path) -> list[str]:
    """Options under which a program is compiled: of the matrix, those of its rows."""
    if not text.parent.name.startswith("matrix"):
        return list(PLANS)
    return [
        f"--mesh={f'dp={row.dp},' if row.dp > 1 else ''}sp={ranks} --strategy={row.strategy} "
        f"--layout={row.layout} {' '.join(options)}"
        for row in run_matrix.every_row()
        for ranks, length, options in row.grid()
        if ranks in RANKS and length == LENGTHS[0]
    ]


def record(tools: harness.Tools, text: Path, options: str) -> dict:
    """Digest and report of one artifact, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        artifact, report = Path(folder) / "a.spx", Path(folder) / "r.json"
        try:
            tools.run("sp-compile", text, *options.split(), f"--report={report}", "-o", artifact)
        except harness.CaseError as failure:
            return {"failure": str(failure).split("ended with")[-1]}
        said = json.loads(report.read_text())
        digest = hashlib.sha256(artifact.read_bytes()).hexdigest()
        return {"digest": digest} | {key: said[key] for key in KEPT}


def differences(before: dict, after: dict) -> Iterator[str]:
    """One line a case that is not as it was."""
    for case in sorted(before.keys() | after.keys()):
        old, new = before.get(case, {}), after.get(case, {})
        changed = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
        if changed:
            yield f"{case}: {', '.join(changed)}"


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="", help="programs whose names have this in them")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    args.work.mkdir(parents=True, exist_ok=True)
    tools = harness.Tools(args.build, args.work)
    cases = {
        f"{text.relative_to(args.work)} {options}": (text, options)
        for text in texts(args.work)
        if args.only in str(text.relative_to(args.work))
        for options in plans(text)
    }
    with ThreadPoolExecutor(args.jobs) as pool:
        found = dict(zip(cases, pool.map(lambda case: record(tools, *case), cases.values()), strict=True))
    if args.to:
        args.to.write_text(json.dumps(found, indent=1, sort_keys=True))
    told = list(differences(json.loads(args.against.read_text()), found)) if args.against else []
    print("\n".join([*told, f"{len(found)} artifacts, {len(told)} differ"]))
    return 1 if told else 0


if __name__ == "__main__":
    raise SystemExit(main())
