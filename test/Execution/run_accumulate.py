"""Steps of training whose batch runs as micro-batches in turn: numbers, bytes and memory.

The batch has three sequences, so that two micro-batches have different numbers of them.
"""

from __future__ import annotations

import sys

import jax

import harness
import models_training
import run_training

PLANS = (
    ("--mesh=sp=2", "--strategy=ring", "--accumulate=3"),
    ("--mesh=sp=4", "--strategy=ulysses", "--accumulate=2", "--row-blocks=3"),
    ("--mesh=dp=2,sp=2", "--strategy=2d", "--heads=2", "--accumulate=2"),
    ("--mesh=sp=3", "--strategy=allgather", "--accumulate=3", "--row-blocks=2"),
    ("--mesh=sp=1", "--accumulate=2", "--offload=host"),
    ("--mesh=sp=2,tp=2", "--strategy=ring", "--accumulate=2", "--row-blocks=2"),
)
# Loops over batches that a step has itself need all of one for the number of its tokens.
REFUSED = ("accumulated-loop", "added-up")
# Attentions of fewer sequences.
BATCHES = {"differential-paired": 1}


def plan_of(name: str, plan: tuple[str, ...]) -> tuple[str, ...]:
    """The plan with no more micro-batches than the function has sequences."""
    most = f"--accumulate={BATCHES.get(name, 3)}"
    return tuple(min(option, most) if option.startswith("--accumulate") else option for option in plan)


def not_refused(tools: harness.Tools) -> list[str]:
    """The functions of REFUSED that compile, or are refused for another reason."""
    wrong = []
    for name in REFUSED:
        function, arguments, _ = models_training.TRAINING[name]()
        program = tools.program(f"training-{name}", function, *arguments)
        try:
            tools.hold(harness.Case(program, PLANS[0]))
            wrong.append(f"{name} is not refused")
        except harness.CaseError as refused:
            if "all micro-batches are needed at once within a loop" not in str(refused):
                wrong.append(str(refused))
    return wrong


def main() -> int:
    """A sample of the functions with one of the plans, or with --all every one with every plan."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", help="one function")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    names = [name for name in models_training.TRAINING if args.only in (None, name) and name not in REFUSED]

    def case(name: str, program: harness.Program, plan: tuple[str, ...]) -> harness.Case:
        return harness.Case(program, plan_of(name, plan))

    cases = run_training.drawn(tools, args, names, PLANS, case)
    wrong = [] if args.only else not_refused(tools)
    for problem in wrong:
        print(problem, file=sys.stderr)
    return harness.hold_all(tools, cases, args) or bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
