"""What must not grow: temporary memory with the square of S, artifacts with P.

Prints what it measured, so that the numbers can be quoted.
"""

from __future__ import annotations

from pathlib import Path

import jax

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


def compiled(tools: harness.Tools, model: Path, *options: str) -> Path:
    """The artifact."""
    artifact = tools.work / "size.spx"
    tools.run("sp-compile", model, "-o", artifact, *options)
    return artifact


def memory(tools: harness.Tools, model: Path, run: bool) -> list[str]:
    """Temporary memory of the long attention is a small multiple of the rank's own q."""
    problems = []
    own = LONG // 8 * KIND.heads * KIND.head_size * 4
    for strategy, times in TEMPORARIES.items():
        options = "--mesh=sp=8", f"--strategy={strategy}"
        report = tools.work / "size.json"
        artifact = compiled(tools, model, *options, f"--report={report}")
        peak = max(harness.read_report(report)["peakBytesPerRank"])
        # q, k, v and the result are no temporaries.
        temporary = (peak - 4 * own) / own - (16 if strategy == "allgather" else 0)
        print(f"{strategy}: temporary memory {temporary:.2f} x q")
        if temporary > times:
            problems.append(f"{strategy}: temporary memory is {temporary:.2f} times q, more than {times}")
        if run:
            tools.run("sp-run", artifact, "--random-inputs=1", f"--report={report}")
            if max(harness.read_report(report)["peakBytesPerRank"]) > peak:
                problems.append(f"{strategy}: peak memory is above the promise")
    return problems


def scaling(tools: harness.Tools, model: Path) -> list[str]:
    """Artifact size for 8 and for 4 096 ranks."""
    problems = []
    for strategy in ("ring", "allgather"):
        few, many = (
            compiled(tools, model, f"--mesh=sp={ranks}", f"--strategy={strategy}").stat().st_size
            for ranks in (8, 4096)
        )
        print(f"{strategy}: {few} and {many} bytes")
        if abs(many - few) > 0.01 * few:
            problems.append(f"{strategy}: artifacts of 8 and 4096 ranks have {few} and {many} bytes")
    return problems


def main() -> int:
    """Measure everything; with --quick only what needs no run."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    model = long_attention(tools)
    problems = memory(tools, model, run=not args.quick) + scaling(tools, model)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
