"""Training steps as people write them, whose parameters and state --zero deals to the ranks or not.

Clipping by the norm of all gradients, f32 weights that compute in bf16, static and dynamic scales of the
loss, dropout by a key that is carried on: see recipes.py. After some steps all arrays are those of JAX on
one device to 1e-9 (f64), keys and counts to the bit; in bf16 they are as near to JAX's in f32 as its own
bf16 is, and half of that. Bytes and memory are as promised.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

import harness
import recipes
import spmlir

STEPS = 4
# Of the error that bf16 makes in JAX itself, in the root mean square of an array.
MOST_BF16 = 1.5


def leaves(state: dict) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays by their paths, keys as their words."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        yield jax.tree_util.keystr(path), np.asarray(jax.random.key_data(leaf) if is_key else leaf)


def tokens_of(sizes: str) -> np.ndarray:
    """Two sequences, whose length the ranks need not divide."""
    return np.random.default_rng(5).integers(0, recipes.SIZES[sizes][2], (2, 23))


def run(step: Callable, state: dict, tokens: np.ndarray) -> tuple[list[float], dict[str, np.ndarray]]:
    """Losses of some steps in JAX, and the arrays behind them."""
    # A function of its own, of which JAX has no trace yet.
    losses, jitted = [], jax.jit(lambda *arguments: step(*arguments))
    for _ in range(STEPS):
        value, state = jitted(state, tokens)
        losses.append(float(value))
    return losses, dict(leaves(state))


def widened(name: str, sizes: str) -> tuple[list[float], dict[str, np.ndarray]]:
    """What a recipe in bf16 makes in f32, whose own error is next to nothing."""
    narrow, recipes.narrow = recipes.narrow, lambda weights: weights
    try:
        return run(recipes.RECIPES[name], recipes.start(name, sizes), tokens_of(sizes))
    finally:
        recipes.narrow = narrow


def expectations() -> Callable[[str, str], tuple]:
    """What JAX makes of a recipe, and of one in bf16 without it; each made once."""
    made: dict = {}

    def expected(name: str, sizes: str) -> tuple:
        if (name, sizes) not in made:
            result = run(recipes.RECIPES[name], recipes.start(name, sizes), tokens_of(sizes))
            made[name, sizes] = *result, *(widened(name, sizes) if name in recipes.BF16 else result)
            if "['scale']" in result[1] and not 0 < (kept := result[1]["['count']"]) < STEPS:
                raise AssertionError(f"{name}: {kept} of {STEPS} steps were finite, expected some")
        return made[name, sizes]

    return expected


def error(got: np.ndarray, expected: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean((got.astype("f8") - expected.astype("f8")) ** 2)))


def problems(plan: tuple, expectation: Callable[[str, str], tuple]) -> list[str]:
    """What is wrong with steps under a plan."""
    name, zero, strategy, dp, sp, sizes = plan
    tokens = tokens_of(sizes)
    mesh = {"dp": dp, "sp": sp} if dp > 1 else {"sp": sp}
    trainer = spmlir.train_step(
        recipes.RECIPES[name],
        recipes.start(name, sizes),
        tokens,
        mesh=mesh,
        strategy=strategy,
        options=[f"--zero={zero}"],
    )
    found = []
    if len(trainer.program.report["attentions"]) != 2 * recipes.LAYERS:
        found.append(f"{len(trainer.program.report['attentions'])} attentions and gradients were taken")
    losses, after, exact_losses, exact = expectation(name, sizes)
    narrow = name in recipes.BF16
    for value, near in zip(losses, exact_losses, strict=True):
        got = trainer.step(tokens)
        most = 1e-12 * abs(value) + MOST_BF16 * abs(value - near)
        # An error of JAX's own may be next to nothing by chance.
        if not abs(got - near) <= most + narrow * 1e-3 * abs(near):
            found.append(f"a loss of {got}, expected {near} to {most:.1e}")
        found += harness.broken(trainer.program.report, trainer.last_run)
    for path, got in leaves(trainer.state):
        if got.dtype.kind in "iu" or got.ndim == 0:
            if got.tobytes() != after[path].tobytes():
                found.append(f"{path} is {got}, expected {after[path]}")
        elif narrow:
            off, own = error(got, exact[path]), error(after[path], exact[path])
            if not off <= MOST_BF16 * own:
                found.append(f"{path} is off by {off:.1e}, that of JAX in bf16 by {own:.1e}")
        elif not (off := np.abs(got - after[path]).max()) <= 1e-9:
            found.append(f"{path} is off by {off:.1e}")
    return [f"{name}, zero={zero}, {strategy} on {mesh}, {sizes}: {problem}" for problem in found]


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    grid = [
        (name, zero, strategy, dp, sp, sizes)
        for name in recipes.RECIPES
        for zero in range(4)
        for strategy in ("ring", "ulysses", "allgather")
        for dp in (1, 2)
        for sp in (2, 3)
        for sizes in recipes.SIZES
    ]
    expectation = expectations()
    chosen = harness.sampled(grid, 4 if args.quick else 20, args)
    wrong = [problem for plan in chosen for problem in problems(plan, expectation)]
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{len(chosen)} plans of {STEPS} steps")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
