"""Reductions of training steps, taken out and done once more, of which none passes the verifier.

The local program of a step as it stands types; each of its reductions is left out, done twice, or done along
fewer axes, one at a time, and `sp-verify-axes` refuses each of these programs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

import harness
import run_zero
from spmlir.exported import lower

STRATEGIES = ("ring", "double-ring", "ulysses", "2d", "allgather")
REDUCTION = re.compile(
    r"^ *(?P<made>%\w+)(?P<count>:\d+)? = sp\.(?P<name>all_reduce|reduce_scatter) "
    r"(?P<read>%[\w#]+(, %[\w#]+)*) (?P<kind>\w+) (over \[(?P<axes>[^]]*)\] of (?P<ranks>\d+))?.*$"
)


def renamed(text: str, names: dict[str, str]) -> str:
    """The text with other names for values."""
    return re.sub(r"%\w+(#\d+)?", lambda name: names.get(name[0], name[0]), text)


def results(found: re.Match) -> list[str]:
    """How a program names what a reduction makes."""
    made = found["made"]
    return [f"{made}#{i}" for i in range(int(found["count"][1:]))] if found["count"] else [made]


def mutants(text: str, sizes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Names of what is done to a program, and what becomes of it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = REDUCTION.match(line)
        if not found:
            continue
        before, after = "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
        what = f"line {number + 1}, {found['name']} {found['kind']} over {found['axes']}"
        read = found["read"].split(", ")
        if found["name"] == "reduce_scatter":
            kinds = line.rsplit("(", 1)[-1].split(" : ")[-1].split(" -> ")[0].split(", ")
            axes = re.search(r' on "([^"]*)" of (\d+)', line)
            of = f'{found["kind"]} over ["{axes[1]}"] of {axes[2]}'
            once = f"%once = sp.all_reduce {read[0]} {of} : {kinds[0]}"
            yield f"{what}, reduced before", f"{before}\n{once}\n{renamed(line, {read[0]: '%once'})}\n{after}"
            continue
        yield f"{what}, never", f"{before}\n{renamed(after, dict(zip(results(found), read, strict=True)))}"
        if found["kind"] == "sum":
            once = line.replace(found["made"], "%once", 1)
            names = [name.replace(found["made"], "%once") for name in results(found)]
            again = line.replace(found["read"], ", ".join(names), 1)
            yield f"{what}, twice", f"{before}\n{once}\n{again}\n{after}"
        axes = found["axes"].split(", ")
        for axis in axes if len(axes) > 1 else ():
            fewer = ", ".join(other for other in axes if other != axis)
            ranks = int(found["ranks"]) // sizes[axis.strip('"')]
            part = line.replace(f"[{found['axes']}] of {found['ranks']}", f"[{fewer}] of {ranks}")
            yield f"{what}, not over {axis}", f"{before}\n{part}\n{after}"


def partitioned(tools: harness.Tools, plan: tuple) -> str:
    """The local program of a training step."""
    zero, strategy, dp, sp, scanned = plan
    weights = run_zero.parameters("even", scanned)
    state = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in range(2)))
    step = jax.jit(run_zero.step, keep_unused=True, donate_argnums=0)
    path = lower(step, (state, np.zeros((2, 24), np.int32)), {}).save(tools.work / "axes") / "model.mlir"
    return tools.run(
        "sp-opt",
        path,
        "--sp-import-pipeline",
        f"--sp-plan-pipeline=mesh=dp={dp},sp={sp} strategy={strategy}",
        "--sp-resolve-donations",
        f"--sp-deal-parameters=zero={zero}",
        "--sp-partition-pipeline",
    )


def is_refused(tools: harness.Tools, program: Path) -> bool:
    """Whether the verifier finds something, and nothing else does."""
    command = [str(tools.build / "bin" / "sp-opt"), "--sp-verify-axes", str(program)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0 and not re.search(r"error: '[\w.]+' op expected .* along axis \"", said.stderr):
        raise harness.CaseError(said.stderr)
    return said.returncode != 0


def main() -> int:
    """Run a sample, or with --all every plan."""
    args = harness.arguments(__doc__).parse_args()
    tools = harness.Tools(args.build, args.work)
    grid = [
        (zero, strategy, dp, 4, scanned)
        for zero in (0, 1, 2, 3)
        for strategy in STRATEGIES
        for dp in (1, 2)
        for scanned in (False, True)
    ]
    refused, missed = 0, []
    for plan in harness.sampled(grid, 2 if args.quick else 8, args):
        text = partitioned(tools, plan)
        path = tools.work / "axes" / "mutant.mlir"
        for what, mutant in mutants(text, {"dp": plan[2], "sp": plan[3]}):
            path.write_text(mutant)
            if is_refused(tools, path):
                refused += 1
            else:
                missed.append(f"{plan}: {what}")
    for mutant in missed:
        print(mutant, file=sys.stderr)
    print(f"{refused} mutants refused, {len(missed)} not")
    return 1 if missed or not refused else 0


if __name__ == "__main__":
    sys.exit(main())
