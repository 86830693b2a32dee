"""How errors of attention and its gradients grow with the ranks, in f32.

The root mean square of the error against f64, over five seeds, on 32 ranks may be at most
1.2 times that on one.
"""

from __future__ import annotations

import jax
import numpy as np

import attentions
import harness

LENGTH, SEEDS, RANKS = 256, range(5), 32
STRATEGIES = (
    ("ring", "--layout=zigzag"),
    ("ring", "--layout=zigzag", "--bidirectional"),
    ("double-ring", "--layout=zigzag", "--inner=8"),
    ("2d", "--layout=zigzag", "--heads=4"),
    ("allgather", "--layout=zigzag"),
)
MOST = 1.2
NAMES = ("the result", "dq", "dk", "dv")


def squares(results: list[np.ndarray], program: harness.Program) -> np.ndarray:
    """Of each result the mean squared error."""
    return np.array(
        [
            np.mean((got.astype(np.float64) - reference) ** 2)
            for got, reference in zip(results, program.reference, strict=True)
        ]
    )


def main() -> int:
    """Print the ratios; 1 if one is too large."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    tools = harness.Tools(args.build, args.work)
    attention = attentions.Attention(4, 2, 16, True, "float32")
    programs = []
    for seed in SEEDS:
        model, arguments = attentions.differentiated(attention, attention.arrays(LENGTH, LENGTH, seed), seed)
        programs.append(tools.program(f"errors-{seed}", model, *arguments))

    def errors(*options: str) -> np.ndarray:
        """The root mean square error of each result over all seeds."""
        runs = (tools.execute(harness.Case(program, options))[0] for program in programs)
        return np.sqrt(np.mean([squares(*pair) for pair in zip(runs, programs, strict=True)], 0))

    alone = errors("--mesh=sp=1", "--strategy=none")
    status = 0
    for strategy, *more in STRATEGIES if args.all else STRATEGIES[:1]:
        ratios = errors(f"--mesh=sp={RANKS}", f"--strategy={strategy}", *more) / alone
        text = ", ".join(f"{name} {ratio:.2f}" for name, ratio in zip(NAMES, ratios, strict=True))
        print(f"{' '.join((strategy, *more))}: {text}")
        if not (ratios <= MOST).all():
            print(f"expected at most {MOST}")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
