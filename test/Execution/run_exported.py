"""Models of Hugging Face, exported from torch, against what torch computed.

Exported/export.py made the programs; nothing here needs torch.
"""

from __future__ import annotations

import gzip
import random
import shutil
import sys
from pathlib import Path

import numpy as np

import harness

FOLDER = Path(__file__).parent / "Exported"
# Attentions of each family: what the compiler has to find.
FAMILIES = {
    "bart": 3,
    "bert": 2,
    "bloom": 2,
    "deepseek": 2,
    "falcon": 2,
    "gemma2": 2,
    "gemma3": 2,
    "gpt-neox": 2,
    "gpt-oss": 2,
    "gpt2": 2,
    "gptj": 2,
    "llama": 2,
    "llama-padded": 2,
    "llama4": 2,
    "mistral": 2,
    "mixtral": 2,
    "modernbert": 2,
    "mpt": 2,
    "opt": 2,
    "phi3": 2,
    "qwen3": 2,
    "t5": 3,
    "vit": 2,
    "whisper": 3,
}
PLANS = (
    ("--mesh=sp=4", "--strategy=none"),
    ("--mesh=sp=4", "--strategy=ring", "--layout=contiguous"),
    ("--mesh=sp=4", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=4", "--strategy=ulysses"),
    ("--mesh=sp=2,tp=2", "--strategy=ring", "--layout=zigzag"),
    ("--mesh=sp=4", "--strategy=allgather"),
)


def unpacked(tools: harness.Tools, name: str) -> harness.Program:
    """The program's text, inputs and results as the tools read them."""
    folder = tools.work / "programs" / f"exported-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(FOLDER / f"{name}.mlir.gz") as text, open(folder / "model.mlir", "wb") as file:
        shutil.copyfileobj(text, file)
    with np.load(FOLDER / f"{name}.npz") as arrays:
        for key, path in (("arg", "inputs"), ("result", "results")):
            np.savez(folder / f"{path}.npz", **{n: arrays[n] for n in arrays.files if n.startswith(key)})
    tools.interpret(folder)
    return tools.made(folder, harness.load_results(folder / "results.npz"))


def main() -> int:
    """Interpret every program, then run it with one of the plans, or with --all with every one."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", help="one family or program")
    args = parser.parse_args()
    tools = harness.Tools(args.build, args.work)
    names = [
        (path.name.removesuffix(".npz"), family)
        for family in FAMILIES
        for path in sorted(FOLDER.glob(f"{family}-*.npz"))
        if path.name.removesuffix(".npz").rpartition("-")[0] == family
    ]
    grid = [
        (name, family, plan)
        for i, (name, family) in enumerate(names)
        for plan in (PLANS if args.all else (PLANS[i % len(PLANS)],))
        if args.only in (None, name, family)
    ]
    if args.quick:
        grid = random.Random(args.seed).sample(grid, 6)
    programs = {name: unpacked(tools, name) for name, _, _ in grid}
    problems = [
        f"torch, {name}: {problem}"
        for name, program in programs.items()
        for problem in harness.compare(program.results, program)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    cases = [harness.Case(programs[name], plan, FAMILIES[family]) for name, family, plan in grid]
    return harness.hold_all(tools, cases, args) or bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())
