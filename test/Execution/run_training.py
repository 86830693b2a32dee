"""Steps of training as JAX prints them, on several ranks: numbers, attentions found, bytes and memory.

Steps with an optimiser run three times, with donated state.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax

import harness
import models_training
import run_checkpoints
from spmlir.exported import lower

PLANS = (
    ("--mesh=sp=3", "--strategy=ring", "--layout=zigzag", "--row-blocks=2", "--offload=host"),
    ("--mesh=sp=4", "--strategy=ulysses", "--row-blocks=3"),
    ("--mesh=dp=2,sp=4", "--strategy=2d", "--heads=2", "--offload=host"),
    ("--mesh=sp=5", "--strategy=allgather", "--row-blocks=2"),
    ("--mesh=sp=6", "--strategy=auto"),
    ("--mesh=sp=2,tp=2", "--strategy=ring", "--row-blocks=2", "--offload=host"),
    ("--mesh=sp=1", "--strategy=auto", "--row-blocks=5", "--offload=host"),
)
REPEATS = 3


def repeated(tools: harness.Tools, name: str, plans: list[tuple[str, ...]]) -> list[str]:
    """What is wrong with steps whose results feed their donated arguments."""
    step, args, _ = models_training.TRAINING[name]()

    def steps(*args: Any) -> tuple:
        state = args[:2]
        for _ in range(REPEATS):
            *state, loss = step(*state, args[-1])
        return (*state, loss)

    expected = tools.program(f"training-{name}-steps", steps, *args)
    folder = tools.work / "steps" / name
    lower(jax.jit(step, donate_argnums=(0, 1), keep_unused=True), args, {}).save(folder)
    wrong = []
    for plan in plans:
        artifact, outputs = folder / "model.spx", folder / "out.npz"
        reports = folder / "c.json", folder / "r.json"
        tools.run("sp-compile", folder / "model.mlir", "-o", artifact, *plan, f"--report={reports[0]}")
        run = ("--timeout=60", f"--steps={REPEATS}", f"--inputs={folder / 'inputs.npz'}")
        tools.run("sp-run", artifact, *run, f"--outputs={outputs}", f"--report={reports[1]}")
        problems = harness.broken(*map(harness.read_report, reports))
        problems += harness.compare(harness.load_results(outputs), expected)
        if problems:
            wrong.append("\n  ".join([f"{name} {' '.join(plan)}", *problems]))
    return wrong


def drawn(
    tools: harness.Tools,
    args: argparse.Namespace,
    names: list[str],
    plans: Sequence[tuple[str, ...]],
    case: Callable[[str, harness.Program, tuple[str, ...]], harness.Case],
) -> list[harness.Case]:
    """A sample of the functions with one of the plans, or with --all every one with every plan."""
    cases = []
    for name in harness.sampled(names, 2 if args.quick else 15, args):
        function, arguments, _ = models_training.TRAINING[name]()
        program = tools.program(f"training-{name}", function, *arguments)
        some = plans if args.all else (plans[names.index(name) % len(plans)],)
        cases += [case(name, program, plan) for plan in some]
    return cases


def counted(name: str, program: harness.Program, plan: tuple[str, ...]) -> harness.Case:
    """A case in which as many attentions are found as the function has."""
    counts = models_training.TRAINING[name]()[2]
    return harness.Case(program, plan, check=run_checkpoints.counted(*counts))


def main() -> int:
    """A sample of the functions with one of the plans, or with --all every one with every plan."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", help="one function")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    names = [name for name in models_training.TRAINING if args.only in (None, name)]
    cases = drawn(tools, args, names, PLANS, counted)
    wrong = []
    steps = [] if args.quick else [name for name in names if name in models_training.STEPS]
    for name in harness.sampled(steps, 1, args):
        wrong += repeated(tools, name, harness.sampled(PLANS, 1, args))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return harness.hold_all(tools, cases, args) or bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
