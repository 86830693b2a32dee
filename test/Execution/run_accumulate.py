"""Steps of training whose batch runs as micro-batches in turn: numbers, attentions, bytes and memory.

The batch has three sequences, so that two micro-batches have different numbers of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import jax

import decoder
import harness
import models_training
import run_checkpoints
import run_training
import spmlir

PLANS = (
    ("--mesh=sp=2", "--strategy=ring", "--accumulate=3"),
    ("--mesh=sp=4", "--strategy=ulysses", "--accumulate=2", "--row-blocks=3"),
    ("--mesh=dp=2,sp=2", "--strategy=2d", "--heads=2", "--accumulate=2"),
    ("--mesh=sp=3", "--strategy=allgather", "--accumulate=3", "--row-blocks=2"),
    ("--mesh=sp=1", "--accumulate=2", "--offload=host"),
    ("--mesh=sp=2,tp=2", "--strategy=ring", "--accumulate=2", "--row-blocks=2"),
)
# A loop over batches that a step has itself needs all of one for the number of its tokens; heads in pairs are
# one attention of one sequence.
IN_LOOP = "all micro-batches are needed at once within a loop"
REFUSED = {
    "accumulated-loop": IN_LOOP,
    "added-up": IN_LOOP,
    "differential-paired": "a batch of at least 3 sequences for 3 micro-batches but this attention has 1",
}


def in_turns(counts: tuple[int, int], plan: tuple[str, ...]) -> Callable[[dict, dict], None]:
    """A check that all attentions are found, each of no more sequences than a micro-batch of the plan has."""
    micro_batches = next(int(option.split("=")[1]) for option in plan if option.startswith("--accumulate"))
    most = -(-decoder.BATCH // micro_batches)

    def check(promised: dict, measured: dict) -> None:
        run_checkpoints.counted(*counts)(promised, measured)
        batches = [attention["batch"] for attention in promised["attentions"]]
        if {*batches} != {most}:
            raise harness.CaseError(f"expected attentions of {most} sequences but they have {batches}")

    return check


def not_refused(tools: harness.Tools) -> list[str]:
    """The functions of REFUSED that compile, or are refused for another reason."""
    wrong = []
    for name, reason in REFUSED.items():
        function, arguments, _ = models_training.TRAINING[name]()
        folder = tools.work / "refused" / name
        model = spmlir.export(function, *arguments).save(folder) / "model.mlir"
        try:
            tools.run("sp-compile", model, "-o", folder / "model.spx", *PLANS[0])
            wrong.append(f"{name} is not refused")
        except harness.CaseError as refused:
            if reason not in str(refused):
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
        counts = models_training.TRAINING[name]()[2]
        return harness.Case(program, plan, check=in_turns(counts, plan))

    cases = run_training.drawn(tools, args, names, PLANS, case)
    wrong = [] if args.only else not_refused(tools)
    for problem in wrong:
        print(problem, file=sys.stderr)
    return harness.hold_all(tools, cases, args) or bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
