"""NaN, infinities, large values and large scores: where results are not finite, exactly.

Every input that `special.inputs` names, beside each way to hide keys and to change scores,
forward and backward, under each strategy. A difference of one NaN fails.
"""

from __future__ import annotations

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import ml_dtypes
import numpy as np

import harness
import special
import spmlir

DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float64": np.float64}
# Of finite elements beside the largest: more than rounding is another test's matter.
TOLERANCE = {"float32": 2e-5, "bfloat16": 3e-2, "float64": 1e-11}

Case = tuple[str, str, str, str]


def unlike(got: np.ndarray, want: np.ndarray, tolerance: float, alike_infinities: bool) -> str:
    """Where two results differ in NaN, infinities or, beyond the tolerance, in numbers."""
    got, want = (x.astype(np.float64) for x in (got, want))
    with np.errstate(invalid="ignore"):
        kinds = [np.where(np.isnan(x), 2, np.where(np.isinf(x), np.sign(x), 0)) for x in (got, want)]
    if alike_infinities:
        kinds = [kind != 0 for kind in kinds]
    wrong = kinds[0] != kinds[1]
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        return f"{wrong.sum()} elements, first {place}: {got[place]} instead of {want[place]}"
    finite = np.isfinite(want)
    if not finite.any() or tolerance == np.inf:
        return ""
    largest = np.abs(want[finite]).max()
    error = np.abs(got[finite] - want[finite]).max()
    return f"error {error:.1e} beside {largest:.1e}" if error > tolerance * largest else ""


def problems(case: Case) -> list[str]:
    """What is wrong with one program, over all inputs."""
    name, kind, plan, dtype = case
    model, backward = special.MODELS[name], kind == "gradients"

    def arguments(arrays: special.Arrays) -> special.Arrays:
        return (arrays if backward else arrays[:3]) + model.arrays

    function, truth = model.__call__, model.truth
    if backward:
        function, truth = special.gradients(function), special.gradients(truth)
    truth = jax.jit(truth)
    exported = spmlir.export(lambda *arrays: function(*arrays), *arguments(special.plain(DTYPES[dtype])))
    program = spmlir.compile(exported, **special.PLANS[plan])
    expected = 2 if backward else 1
    if len(program.report["attentions"]) != expected:
        return [f"expected {expected} attentions but found {len(program.report['attentions'])}"]
    found = []
    for label, arrays in special.inputs(DTYPES[dtype]):
        if special.differs(name, kind, label) or (label.startswith("do") and not backward):
            continue
        # Gradients beside large numbers are differences of these.
        tolerance = np.inf if backward and "large" in label else TOLERANCE[dtype]
        wanted = jax.tree.leaves(truth(*arguments(arrays)))
        for number, (got, want) in enumerate(zip(program(*arguments(arrays)), wanted, strict=True)):
            # JAX's derivative of tanh has terms of both signs.
            text = unlike(got, np.asarray(want), tolerance, backward and "cap" in name)
            if text:
                found.append(f"{label}, result{number}: {text}")
    return found


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    grid = list(itertools.product(special.MODELS, ("forward", "gradients"), special.PLANS, DTYPES))
    grid = harness.sampled(grid, 6 if args.quick else 14, args)

    def fails(case: Case) -> bool:
        found = problems(case)
        for text in found[:5]:
            print(f"{' '.join(case)}: {text}", file=sys.stderr)
        return bool(found)

    with ThreadPoolExecutor(args.jobs) as pool:
        failures = sum(pool.map(fails, grid))
    print(f"{len(grid) - failures} of {len(grid)} programs have the model's numbers")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
