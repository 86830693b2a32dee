"""Peak memory of a rank in long causal attention, beside what a ring cannot do without.

That is its rows of q, k, v and of the result, whose memory the sums take while they grow, a
log-sum-exp for each row and head, and two blocks of keys and values; all in f32.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
RANKS, HEADS, SIZE = 8, 4, 128
MIB = 2**20


def tool(path: Path, *arguments: object) -> None:
    command = [path, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")


def export(tokens: int, folder: Path) -> Path:
    """The text of the attention, as a model would write it."""
    import jax
    import jax.numpy as jnp

    import spmlir

    def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * SIZE**-0.5
        seen = jnp.arange(tokens)[:, None] >= jnp.arange(tokens)[None, :]
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)), v)

    shape = jax.ShapeDtypeStruct((1, tokens, HEADS, SIZE), "float32")
    return spmlir.export(attention, shape, shape, shape).save(folder) / "model.mlir"


def main() -> None:
    """Compile, run and print one row a strategy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=131072, help="length of the sequence (131072)")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="default build")
    parser.add_argument(
        "--strategies", nargs="+", default=["ring", "double-ring", "2d", "ulysses", "allgather"]
    )
    args = parser.parse_args()
    sys.path.insert(0, str(REPOSITORY / "python"))

    block = args.tokens // RANKS * HEADS * SIZE * 4
    least = 3 * block + block + block // SIZE + 2 * 2 * block
    print(
        f"S={args.tokens} P={RANKS} H={HEADS} D={SIZE} f32 causal, MiB a rank; a ring needs {least / MIB:.2f}"
    )
    print("\n| strategy | promised | measured | sent |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        model = export(args.tokens, Path(folder))
        for strategy in args.strategies:
            artifact, report = Path(folder) / "model.spx", Path(folder) / "report.json"
            plan = f"--mesh=sp={RANKS}", f"--strategy={strategy}"
            tool(args.build / "bin" / "sp-compile", model, "-o", artifact, *plan)
            tool(args.build / "bin" / "sp-run", artifact, "--random-inputs=1", f"--report={report}")
            run = json.loads(report.read_text())
            peak = max(run["peakBytesPerRank"]) / MIB
            sent = max(run["bytesSentPerRank"]) / MIB
            promised = run["promisedPeakBytes"] / MIB
            print(f"| {strategy} | {promised:.2f} | {peak:.2f} | {sent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
