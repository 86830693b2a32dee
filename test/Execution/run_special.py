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


def unlike(
    got: np.ndarray, want: np.ndarray, tolerance: float, alike_infinities: bool, terms: float = 0
) -> str:
    """Where two results differ in NaN, infinities or, beyond the tolerance, in numbers.

    terms: how large the terms are that numbers are sums and differences of.
    """
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
    if not finite.any():
        return ""
    largest = max(np.abs(want[finite]).max(), terms)
    error = np.abs(got[finite] - want[finite]).max()
    return f"error {error:.1e} beside {largest:.1e}" if error > tolerance * largest else ""


def limits(arrays: special.Arrays, dtype: str) -> tuple[float, list[float]]:
    """What the README adds to the tolerance of gradients, and how large their terms are.

    Those of q and k are made of a row's slopes, differences of products with values.
    """
    q, k, v, cotangent = (np.linalg.norm(x.astype(np.longdouble), axis=-1).max() for x in arrays)
    weight = np.expm1(2.0 ** (-51 if dtype == "float64" else -22) * q * k)
    return float(weight), [float(x) for x in (cotangent * v * k, cotangent * v * q, cotangent)]


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
        weight, terms = limits(arrays, dtype) if backward and "large" in label else (0, [0] * 3)
        wanted = jax.tree.leaves(truth(*arguments(arrays)))
        for number, (got, want) in enumerate(zip(program(*arguments(arrays)), wanted, strict=True)):
            # JAX's derivative of tanh has terms of both signs.
            text = unlike(
                got, np.asarray(want), TOLERANCE[dtype] + weight, backward and "cap" in name, terms[number]
            )
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
