"""Operations near attention: each a function of one value, in JAX, with numbers that fit what is there."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import jax
import jax.numpy as jnp
import numpy as np

from near_changes import Change, Draw
from near_program import Place


def one_place(draw: Draw) -> tuple[Callable[[], jax.Array], str]:
    """True at one position of one axis or several: by comparing positions, or as a constant."""
    axes = draw.axes()
    at = draw.at(axes)
    shape = draw.place.shape
    relation = draw.random.choice(("equal", "equal", "equal", "behind"))
    if draw.random.random() < 0.5:

        def positions() -> jax.Array:
            here = jnp.ones(shape, bool)
            for axis, index in zip(axes, at, strict=True):
                iota = jax.lax.broadcasted_iota(jnp.int32, shape, axis)
                here = here & (iota == index if relation == "equal" else iota >= index)
            return here

        return positions, f"where {len(axes)} axes are {relation} by iota"
    kept = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
    table = np.zeros(kept, bool)
    table[tuple(at[axes.index(axis)] if axis in axes else 0 for axis in range(len(shape)))] = True
    return (lambda: jnp.broadcast_to(jnp.asarray(table), shape)), f"where {len(axes)} axes say by a constant"


def clip(draw: Draw) -> Change:
    low, high = sorted((draw.bound(0, 0.5), draw.bound(0.5, 1)))
    kind = draw.random.choice(("clip", "minimum", "maximum"))
    if kind == "clip":
        return Change("clip", lambda x: jnp.clip(x, x.dtype.type(low), x.dtype.type(high)))
    function, bound = (jnp.minimum, high) if kind == "minimum" else (jnp.maximum, low)
    return Change(kind, lambda x: function(x, x.dtype.type(bound)))


def threshold(draw: Draw) -> Change:
    bound, above = draw.bound(), draw.random.random() < 0.5
    # An infinite value of a hidden key is not read here (README).
    infinite = ("-inf",) if draw.place.role == "scores" else ()
    other = draw.random.choice((0.0, -1e9, -1e30, "bound", "half", *infinite))
    if draw.place.role in ("weights", "slopes", "cotangents"):
        other = draw.random.choice((0.0, 0.0, "bound", "half"))

    def function(x: jax.Array) -> jax.Array:
        limit = x.dtype.type(bound)
        filled = {"bound": limit, "half": x / 2, "-inf": -jnp.inf}.get(other, other)
        return jnp.where(x > limit if above else x < limit, jnp.asarray(filled, x.dtype), x)

    return Change(f"threshold to {other}", function)


def rounded(draw: Draw) -> Change:
    name = draw.random.choice(("round", "floor", "ceil", "trunc"))
    step = draw.random.choice((1.0, draw.size(), 0.1 * draw.size()))
    return Change(name, lambda x: getattr(jnp, name)(x / x.dtype.type(step)) * x.dtype.type(step))


def sign(draw: Draw) -> Change:
    return draw.random.choice(
        (
            Change("abs", jnp.abs),
            Change("sign", jnp.sign),
            Change("negate", jnp.negative),
            Change("relu", jax.nn.relu),
            Change("square", lambda x: x * x),
            Change("x|x|", lambda x: x * jnp.abs(x)),
            Change("tanh", jnp.tanh),
            Change("isfinite", lambda x: jnp.where(jnp.abs(x) < jnp.inf, x, x.dtype.type(1))),
        )
    )


def epsilon(draw: Draw) -> Change:
    small = draw.size() * draw.random.choice((1e-3, 1e-2, 0.1, 1))
    return Change("epsilon", lambda x: x + x.dtype.type(small))


def factor(draw: Draw) -> Change:
    number = draw.random.choice((2.0, 0.5, 1.01, -1.0, 0.0))
    return Change("factor", lambda x: x * x.dtype.type(number))


def flat(draw: Draw) -> Change:
    """Analytic, and nothing where values are small; above a bound that some of them pass it acts."""
    bound = max(abs(draw.bound(0.5, 1)), 1e-3 * draw.size(), 1e-30)
    name, function = draw.random.choice(
        (
            ("bound by a root", lambda x, c: c - jnp.sqrt((x - c) ** 2)),
            ("fading", lambda x, c: x / (1 + jnp.exp(20 * (x / c - 1)))),
            ("eighth power", lambda x, c: x * (1 + (x / c) ** 8 / 8)),
            ("sign of a difference", lambda x, c: x * jnp.sqrt((1 - x / c) ** 2) / (1 - x / c)),
        )
    )
    return Change(name, lambda x: function(x, x.dtype.type(bound)))


def of_size(draw: Draw) -> Change:
    """A quotient that acts on what is much smaller, or much larger, than some of the values alone."""
    bound = draw.size() * draw.random.choice((1e-3, 0.1, 1, 10))
    name, function = draw.random.choice(
        (
            ("doubling of the small", lambda x, c: x * (1 + c / (x / c * x + c))),
            ("end of the large", lambda x, c: x / (1 + (x / c) ** 2)),
        )
    )
    return Change(name, lambda x: function(x, x.dtype.type(bound)))


def one_factor(draw: Draw) -> Change:
    here, how = one_place(draw)
    number = draw.number()
    return Change(f"factor {how}", lambda x: x * jnp.where(here(), x.dtype.type(number), x.dtype.type(1)))


def one_bias(draw: Draw) -> Change:
    here, how = one_place(draw)
    number = draw.size() * draw.random.choice((1, -1, 3))
    name = "bias"
    if draw.place.role in ("scores", "terms") and draw.random.random() < 0.3:
        infinite = (-math.inf,) if draw.place.role == "scores" else ()
        number = draw.random.choice((*infinite, -1e30, -1e9, -1e4, -100, 100))
        name = f"bias {number:g}"
    return Change(f"{name} {how}", lambda x: x + jnp.where(here(), x.dtype.type(number), x.dtype.type(0)))


def one_function(draw: Draw) -> Change:
    here, how = one_place(draw)
    name, function = draw.random.choice(
        (
            ("square", jnp.square),
            ("abs", jnp.abs),
            ("tanh", jnp.tanh),
            ("zero", jnp.zeros_like),
            ("relu", jax.nn.relu),
        )
    )
    return Change(f"{name} {how}", lambda x: jnp.where(here(), function(x), x))


def of_input(draw: Draw) -> Change:
    """A factor or an addend that small inputs do not show."""
    random, shape, dtype = draw.random, draw.place.shape, draw.place.dtype
    axes = draw.axes() if random.random() < 0.7 else []
    size = [shape[axis] for axis in axes]
    rng = np.random.default_rng(random.randrange(2**31))

    def spread(array: jax.Array) -> jax.Array:
        return jax.lax.broadcast_in_dim(array.astype(dtype), shape, axes)

    kind = random.choice(
        ("token >> 7", "step // 1000", "relu(gain - 4)", "max(gain, 3)", "token > 99", "gain")
    )
    if kind in ("token >> 7", "step // 1000", "token > 99"):
        array = rng.integers(0, 3000 if "step" in kind else 300, size).astype(np.int32)
    else:
        array = (4 * rng.standard_normal(size)).astype(dtype)

    def value(array: jax.Array) -> jax.Array:
        if kind == "token >> 7":
            return spread(1 + (array >> 7))
        if kind == "step // 1000":
            return spread(jnp.maximum(1, array // 1000))
        if kind == "token > 99":
            return spread(jnp.where(array > 99, 2, 1))
        if kind == "relu(gain - 4)":
            return spread(1 + jax.nn.relu(array - 2))
        return spread(jnp.maximum(array, 3) if kind == "max(gain, 3)" else array)

    if random.random() < 0.4:
        return Change(f"bias of input {kind}", lambda x, array: x + value(array) - 1, (array,))
    return Change(f"factor of input {kind}", lambda x, array: x * value(array), (array,))


def round_trip(draw: Draw) -> Change:
    name = draw.random.choice(("bfloat16", "float16", "int32", "int8", "reduce", "reduce"))
    if name == "reduce":
        bits = draw.random.choice(((8, 7), (5, 10), (4, 3)))
        return Change(f"reduce_precision {bits}", lambda x: jax.lax.reduce_precision(x, *bits))
    if "int" in name:
        step = draw.random.choice((1.0, draw.size()))
        return Change(
            f"to {name}",
            lambda x: jax.lax.convert_element_type((x / x.dtype.type(step)), name).astype(x.dtype)
            * x.dtype.type(step),
        )
    return Change(f"to {name}", lambda x: x.astype(name).astype(x.dtype), excess=True)


def reordered(draw: Draw) -> Change:
    """Along one axis: another order, a neighbour, running sums, less the maximum."""
    axes = [axis for axis, size in enumerate(draw.place.shape) if size > 1]
    axis = draw.random.choice(axes)
    return draw.random.choice(
        (
            Change("reverse", lambda x: jnp.flip(x, axis)),
            Change("roll", lambda x: jnp.roll(x, 1, axis)),
            Change("running sum", lambda x: jax.lax.associative_scan(jnp.add, x, axis=axis)),
            Change(
                "less maximum", lambda x: x - jnp.max(jnp.where(jnp.isfinite(x), x, 0), axis, keepdims=True)
            ),
            Change(
                "less mean", lambda x: x - jnp.mean(jnp.where(jnp.isfinite(x), x, 0), axis, keepdims=True)
            ),
            Change("at most maximum less 4", lambda x: jnp.maximum(x, jnp.max(x, axis, keepdims=True) - 4)),
            Change(
                "over bounded sum",
                lambda x: x / jnp.maximum(jnp.sum(jnp.abs(x), axis, keepdims=True), draw.size()),
            ),
            Change(
                "over maximum",
                lambda x: x / jnp.maximum(jnp.max(jnp.abs(x), axis, keepdims=True), draw.size()),
            ),
        )
    )


def with_other(draw: Draw) -> Change:
    """By another value that is computed earlier."""
    if not draw.others:
        return clip(draw)
    other, values = draw.random.choice(draw.others)
    its = Draw(draw.random, other, values)
    bound, fill = its.bound(), draw.random.choice((0.0, 0.0, -1e9, "half"))
    less = draw.size() * draw.random.choice((0, 1, 4))
    share = draw.size() / its.size()
    name, function = draw.random.choice(
        (
            (
                "threshold by",
                lambda x, y: jnp.where(
                    y > y.dtype.type(bound), x / 2 if fill == "half" else x.dtype.type(fill), x
                ),
            ),
            (
                "threshold by",
                lambda x, y: jnp.where(
                    y > y.dtype.type(bound), x / 2 if fill == "half" else x.dtype.type(fill), x
                ),
            ),
            ("at least", lambda x, y: jnp.maximum(x, y - y.dtype.type(less))),
            ("at most", lambda x, y: jnp.minimum(x, y + y.dtype.type(less))),
            ("a tenth of", lambda x, y: x + y * y.dtype.type(share / 10)),
            ("times", lambda x, y: x * y * y.dtype.type(1 / its.size())),
            ("instead of", lambda x, y: jnp.broadcast_to(y, x.shape)),
        )
    )
    return Change(f"{name} other {other.role}", function, others=(other,))


def at_turn(draw: Draw) -> Change:
    """In one turn of a loop."""
    if not draw.place.counter:
        return threshold(draw)
    turn, number = draw.random.randrange(3), draw.number()
    return Change(
        "factor at one turn", lambda x, it: jnp.where(it == turn, x * x.dtype.type(number), x), turn=True
    )


def boolean(draw: Draw) -> Change:
    here, how = one_place(draw)
    kind = draw.random.choice(("or", "and not", "xor"))
    functions = {"or": jnp.logical_or, "and not": lambda x, y: x & ~y, "xor": jnp.logical_xor}
    return Change(f"{kind} {how}", lambda x: functions[kind](x, here()))


CHANGES = (
    (clip, 4), (threshold, 4), (rounded, 2), (sign, 3), (epsilon, 2), (factor, 1), (flat, 3), (of_size, 3),
    (one_factor, 4), (one_bias, 3), (one_function, 3), (of_input, 3), (round_trip, 2), (reordered, 3),
    (with_other, 4), (at_turn, 2),
)  # fmt: skip


def draw(random: Random, place: Place, values: dict[Place, np.ndarray]) -> Change:
    """A change for the place. values: there and at other places."""
    drawn = Draw(random, place, values.get(place))
    if place.dtype == "bool":
        return boolean(drawn)
    drawn.others = [(other, x) for other, x in values.items() if place.meets(other) and other.role != "far"]
    makers, weights = zip(*CHANGES, strict=True)
    if all(size <= 1 for size in place.shape):
        makers, weights = zip(*CHANGES[:7], strict=True)
    return random.choices(makers, weights)[0](drawn)
