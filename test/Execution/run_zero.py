"""Training steps whose parameters and optimizer state --zero deals to the ranks.

Adam on three layers of attention and an MLP, with sizes that the ranks need not divide, written out or as a
scan, alone or beside a tensor axis. After some steps all weights and moments are those of JAX on one device
to 1e-9 (f64), and bytes and memory as promised, which is less than without --zero. All arguments lie as was
asked for, and nothing but parameters, gathered once more, is sent that is not without --zero. In f32 the
losses of 200 steps are those of JAX to 1e-4, at a rate at which they do not enlarge errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from math import prod

import jax
import jax.numpy as jnp
import numpy as np

import harness
import layouts
import spmlir
from run_shifts import attend

LAYERS, HEADS = 3, 4
STRATEGIES = ("ring", "double-ring", "ulysses", "2d", "allgather")
# Of four ranks and more; the others would be rings, or Ulysses.
FACTORS = {"double-ring": {"inner": 2}, "2d": {"heads": 2}}
# Width of a head, of the MLP, words: even for most ranks, and for none.
SIZES = {"even": (24, 192, 120), "uneven": (23, 191, 113)}
STEPS, LONG = 2, 200
# So many that a gradient of a weight is summed, where fewer rows would be gathered for it.
ROWS = 96
# The head, whose columns are not many, and all weights, dealt by products and parts of axes.
HYBRID = (
    ("--shard=arg0=dp*sp,_",),
    ("--shard=arg0=sp*dp,_",),
    ("--shard=arg0=sp:(1)2,dp", "--zero-axes=sp:(2)2"),
    ("--shard=arg0=dp*sp:(1)2,sp:(2)2",),
    ("--zero-axes=sp:(1)2",),
    ("--zero-axes=dp,sp:(2)2",),
)


def parameters(sizes: str, scanned: bool) -> dict:
    """Weights, those of all layers in one array where a scan reads them."""
    head, hidden, words = SIZES[sizes]
    width = HEADS * head
    shapes = {"qkv": (width, 3 * width), "o": (width, width), "up": (width, hidden), "down": (hidden, width)}
    draw = np.random.default_rng(len(sizes)).standard_normal
    layers = {name: draw((LAYERS, *shape)) / 10 for name, shape in shapes.items()}
    layers["scale"] = 1 + draw((LAYERS, width)) / 10
    if not scanned:
        layers = [{name: each[layer] for name, each in layers.items()} for layer in range(LAYERS)]
    return {"words": draw((words, width)), "layers": layers, "head": draw((width, words)) / 10}


def layer(x: jax.Array, weights: dict) -> jax.Array:
    """Attention and an MLP, each beside what it reads."""
    qkv = (x * weights["scale"]) @ weights["qkv"]
    parts = jnp.split(qkv.reshape(*x.shape[:2], -1, x.shape[-1] // HEADS), 3, axis=2)
    x = x + attend(*parts).reshape(x.shape) @ weights["o"]
    return x + jnp.tanh(x @ weights["up"]) @ weights["down"]


def loss(weights: dict, tokens: jax.Array) -> jax.Array:
    """Of the next token."""
    x = weights["words"][tokens]
    if isinstance(weights["layers"], dict):
        x, _ = jax.lax.scan(lambda x, each: (layer(x, each), None), x, weights["layers"])
    else:
        for each in weights["layers"]:
            x = layer(x, each)
    logs = jax.nn.log_softmax(x @ weights["head"])[:, :-1]
    return -jnp.mean(jnp.take_along_axis(logs, tokens[:, 1:, None], axis=-1))


def step(state: tuple, tokens: jax.Array, rate: float = 0.01) -> tuple:
    """Adam on gradients of a norm of at most 1; its updates stay small where they vanish."""
    weights, first, second = state
    value, slopes = jax.value_and_grad(loss)(weights, tokens)
    norm = jnp.sqrt(sum(jnp.sum(slope**2) for slope in jax.tree.leaves(slopes)))
    slopes = jax.tree.map(lambda slope: slope / jnp.maximum(norm, 1), slopes)
    first = jax.tree.map(lambda m, slope: 0.9 * m + 0.1 * slope, first, slopes)
    second = jax.tree.map(lambda v, slope: 0.99 * v + 0.01 * slope**2, second, slopes)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 0.01), weights, first, second)
    return value, (weights, first, second)


def layout_of(group: dict, plan: tuple) -> str | set[str] | None:
    """Where arguments that a report has together have to lie, as `layouts.misplaced` reads it."""
    zero, _, axes, _, _, more = plan
    given = dict(option[2:].split("=", 1) for option in more)
    if "shard" in given and group["example"] == "state[0]['head']":
        return given["shard"].removeprefix("arg0=")
    if group["role"] == "small":
        return None if axes["tp"] > 1 else "whole"
    # Whether that axis has words is the compiler's choice.
    is_layers = "['layers']" in group["example"]
    tensor = (
        {"tp"} & ({*axes} if is_layers else layouts.axes_of(group["layout"])) if axes["tp"] > 1 else set()
    )
    used = [axis for axis in ("dp", "sp") if axes[axis] > 1]
    if (group["role"] == "parameter" and zero < 3) or not used:
        return tensor
    return tensor | {*given.get("zero-axes", ",".join(used)).split(",")}


def may_send(report: dict, turns: int) -> int:
    """Bytes that a rank may send beside those without --zero.

    Sums of gradients lie dealt, and take a part of each micro-batch. Parameters that lie dealt are gathered
    for each, and once more for its gradients. All parts are as large as the largest, and each has a number
    for the norm of all gradients.
    """
    mesh, more = report["mesh"], 0.0
    ranks = mesh.get("dp", 1) * mesh["sp"]
    for group in report["arguments"]:
        if group["role"] in ("parameter", "state"):
            axes = layouts.axes_of(group["layout"])
            tensors = mesh["tp"] if "tp" in axes else 1
            parts = prod(layouts.ranks_of(axis, mesh) for axis in axes - {"tp"})
            travels = (parts - 1) * group["rankBytes"]
            # A sum takes as much again as a gather, of one parameter for two of its moments.
            padded = (ranks - 1) / ranks * (parts * group["rankBytes"] - group["bytes"] / tensors)
            summed = padded + (turns - 1) * travels / 2
            gathered = (2 * turns - 1) * travels + 8 * report["ranks"]
            more += group["count"] * (gathered if group["role"] == "parameter" else summed)
    return int(more)


def other_than_asked(report: dict, plan: tuple) -> list[str]:
    """What is wrong with attentions, and where arguments lie."""
    _, strategy, axes, scanned, _, more = plan
    each = strategy if axes["sp"] > 1 else "none", 1 if "--accumulate=2" in more else 2
    expected = [each] * (2 if scanned else 2 * LAYERS)
    found = []
    if (got := [(each["strategy"], each["batch"]) for each in report["attentions"]]) != expected:
        found.append(f"attentions are {got}, expected {expected}")
    roles = {group["role"] for group in report["arguments"]}
    if not roles >= {"parameter", "state"}:
        found.append(f"arguments are {roles}")
    for group in report["arguments"]:
        if group["role"] != "data":
            found += layouts.misplaced(group, layout_of(group, plan), report["mesh"])
    return found


def problems(plan: tuple, expected: Callable[[str, bool, np.ndarray], tuple]) -> list[str]:
    """What is wrong with steps under a plan."""
    zero, strategy, axes, scanned, sizes, more = plan
    weights = parameters(sizes, scanned)
    state = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in range(2)))
    tokens = np.random.default_rng(axes["sp"]).integers(0, SIZES[sizes][2], (2, ROWS))
    mesh = {axis: ranks for axis, ranks in axes.items() if ranks > 1 or axis == "sp"}
    options, on = [f"--zero={zero}", *more], {"mesh": mesh, "strategy": strategy, **FACTORS.get(strategy, {})}
    trainer = spmlir.train_step(step, state, tokens, options=options, **on)
    name = f"zero={zero}, {strategy} on {mesh}, {sizes}{', scanned' if scanned else ''} {' '.join(more)}"
    found = other_than_asked(trainer.program.report, plan)
    if axes["dp"] * axes["sp"] > 1:
        others = [option for option in more if not option.startswith(("--zero-axes", "--shard"))]
        reports = trainer.program.report, spmlir.compile(trainer.exported, options=others, **on).report
        dealt, before = (max(each["peakBytesPerRank"]) for each in reports)
        if not dealt < 0.9 * before:
            found.append(f"a rank needs {dealt} bytes, without --zero {before}")
        sent, most = (max(each["bytesSentPerRank"]) for each in reports)
        most += may_send(reports[0], 2 if "--accumulate=2" in more else 1)
        if not sent <= most:
            found.append(f"a rank sends {sent} bytes, expected at most {most}")
    values, after = expected(sizes, scanned, tokens)
    for value in values:
        got = trainer.step(tokens)
        if not abs(got - value) <= 1e-12 * abs(value):
            found.append(f"a loss of {got}, expected {value}")
        found += harness.broken(trainer.program.report, trainer.last_run)
    leaves = zip(jax.tree.leaves(trainer.state), jax.tree.leaves(after), strict=True)
    off = np.max([np.abs(a - b).max() for a, b in leaves])
    if not off <= 1e-9:
        found.append(f"state is off by {off:.1e}")
    return [f"{name}: {problem}" for problem in found]


def long_runs(strategies: list[tuple], stages: tuple[int, ...]) -> list[str]:
    """What is wrong with the losses of many steps, a batch each."""
    state = jax.tree.map(np.float32, parameters("uneven", False))
    state = (state, *(jax.tree.map(np.zeros_like, state) for _ in range(2)))
    batches = np.random.default_rng(4).integers(0, SIZES["uneven"][2], (4, 2, 24))
    batches = np.tile(batches, (LONG // 4, 1, 1))
    slow = partial(step, rate=1e-4)
    expected, after, found = [], state, []
    compiled = jax.jit(slow)
    for tokens in batches:
        value, after = compiled(after, tokens)
        expected.append(float(value))
    if not expected[-1] < 0.5 * expected[0]:
        found.append(f"JAX's losses go from {expected[0]} to {expected[-1]}")
    for strategy, mesh in strategies:
        for zero in stages:
            on = {"mesh": mesh, "strategy": strategy, "zero": zero, **FACTORS.get(strategy, {})}
            trainer = spmlir.train_step(slow, state, batches[0], **on)
            losses = trainer.run(list(batches), progress=False)
            off = np.max(np.abs(np.array(losses) / expected - 1))
            text = f"zero={zero}, {strategy} on {mesh}: losses of {LONG} steps are off by {off:.1e}"
            print(text)
            if not off <= 1e-4:
                found.append(text)
    return found


def dense() -> Callable[[str, bool, np.ndarray], tuple]:
    """Losses of some steps in JAX, and the state behind them; each made once."""
    made: dict = {}

    def run(sizes: str, scanned: bool, tokens: np.ndarray) -> tuple:
        key = (sizes, scanned, tokens.tobytes())
        if key not in made:
            weights = parameters(sizes, scanned)
            state, values = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in range(2))), []
            for _ in range(STEPS):
                value, state = jax.jit(step)(state, tokens)
                values.append(float(value))
            made[key] = values, state
        return made[key]

    return run


def main() -> int:
    """Run a sample, or with --all the whole product."""
    args = harness.arguments(__doc__).parse_args()
    jax.config.update("jax_enable_x64", True)
    grid = [
        (zero, strategy, {"dp": dp, "sp": sp, "tp": tp}, scanned, sizes, more)
        for zero in (1, 2, 3)
        for strategy in STRATEGIES
        for dp in (1, 2)
        for sp in (1, 2, 3, 4, 5)
        for tp in (1, 2)
        for scanned in (False, True)
        for sizes in SIZES
        for more in ((), ("--accumulate=2",), ("--offload=host",))
        if (strategy in ("ring", "ulysses", "allgather") or sp == 4)
        and not (dp > 1 and "--accumulate=2" in more)
    ]
    grid += [
        (zero, strategy, {"dp": 2, "sp": 4, "tp": 1}, scanned, "even", more)
        for zero in (1, 3)
        for strategy in STRATEGIES
        for scanned in (False, True)
        for more in HYBRID
    ]
    chosen = harness.sampled(grid, 3 if args.quick else 16, args)
    # Rows of the embedding are dealt by the axis that deals tokens.
    chosen.append((3, "ring", {"dp": 1, "sp": 4, "tp": 1}, False, "even", ()))
    expected = dense()
    wrong = [problem for plan in chosen for problem in problems(plan, expected)]
    runs = [(strategy, {"sp": 4}) for strategy in STRATEGIES]
    runs += [("ring", {"dp": 2, "sp": 2, "tp": 2}), ("2d", {"dp": 2, "sp": 4})]
    wrong += long_runs(harness.sampled(runs, 1, args), (1, 2, 3) if args.all else (3,))
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{len(chosen)} plans of {STEPS} steps")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
