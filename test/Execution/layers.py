"""Attentions between weights, which tensor axes and --zero deal, and a step that trains them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import scores

if TYPE_CHECKING:
    import cases

# flat: [width, heads * size]; heads: [width, heads, size]; fused: flat, those of q, k and v in one.
FORMS = ("flat", "heads", "fused")


@dataclass(frozen=True)
class Layer:
    """Weights make q, k and v of rows of `width` features, and of the attention's result such rows again.

    attend: of q, k, v and the arrays of its parts, tokens before heads. sizes: heads and features of
    q, k and v. separate: whether keys and values are of other rows than queries.
    """

    attend: Callable[..., jax.Array]
    sizes: tuple[tuple[int, int], ...]
    width: int
    form: str = "flat"
    separate: bool = False

    def weights(self, seed: int, dtype: str) -> list[np.ndarray]:
        """Of q, k and v, or of these in one, and of the result."""
        shapes = [(self.width, *size) for size in self.sizes]
        shapes.append((self.sizes[0][0], self.sizes[2][1], self.width))
        if self.form != "heads":
            shapes[:3] = [(self.width, heads * size) for _, heads, size in shapes[:3]]
            shapes[3] = (shapes[3][0] * shapes[3][1], self.width)
        if self.form == "fused":
            shapes[:3] = [(self.width, sum(columns for _, columns in shapes[:3]))]
        draw = np.random.default_rng([seed, 13]).standard_normal
        fan_in = [self.width] * (len(shapes) - 1) + [self.sizes[0][0] * self.sizes[2][1]]
        return [
            (draw(shape) / np.sqrt(fan)).astype(jnp.dtype(dtype))
            for shape, fan in zip(shapes, fan_in, strict=True)
        ]

    def __call__(self, *arrays: jax.Array) -> jax.Array:
        """The weights, rows of queries, those of keys where they are others, and what parts read."""
        *projections, last = arrays[: 2 if self.form == "fused" else 4]
        rest = arrays[len(projections) + 1 :]
        rows, parts = (rest[:2], rest[2:]) if self.separate else (rest[:1], rest[1:])
        if self.form == "fused":
            ends = np.cumsum([heads * size for heads, size in self.sizes])
            made = jnp.split(rows[0] @ projections[0], ends[:-1], axis=-1)
        else:
            of = "btf,fhe->bthe" if self.form == "heads" else "btf,fe->bte"
            given = (rows[0], rows[-1], rows[-1])
            made = [jnp.einsum(of, x, w) for x, w in zip(given, projections, strict=True)]
        q, k, v = (x.reshape(*x.shape[:2], *size) for x, size in zip(made, self.sizes, strict=True))
        result = self.attend(q, k, v, *parts)
        if self.form == "heads":
            return jnp.einsum("bthe,hef->btf", result, last)
        return result.reshape(*result.shape[:2], -1) @ last


def trained(
    layer: Callable[..., jax.Array], weights: int, learned: tuple[int, ...]
) -> Callable[..., tuple[jax.Array, ...]]:
    """A step of momentum on so many of the layer's arguments: these, the momenta, the cotangent, the rest.

    learned: arguments that have gradients beside them. Gives what was donated, the result, gradients.
    """

    def step(*arrays: Any) -> tuple:
        own, momenta = arrays[:weights], arrays[weights : 2 * weights]
        cotangent, rest = arrays[2 * weights], arrays[2 * weights + 1 :]
        numbers = (*range(weights), *learned)

        def of(*some: Any) -> jax.Array:
            given = dict(zip(numbers, some, strict=True))
            return layer(*(given.get(number, array) for number, array in enumerate((*own, *rest))))

        result, pull = jax.vjp(of, *((*own, *rest)[number] for number in numbers))
        slopes = pull(cotangent)
        momenta = tuple(m / 2 + slope for m, slope in zip(momenta, slopes, strict=False))
        own = tuple(w - m / 8 for w, m in zip(own, momenta, strict=True))
        return (*own, *momenta, result, *slopes[weights:])

    return step


def model(case: cases.Case, attend: Callable[..., Any], arrays: tuple) -> tuple[Callable[..., Any], tuple]:
    """The attention between weights, or a step that trains these."""

    def tokens_first(q: Any, k: Any, v: Any, *rest: Any) -> Any:
        return attend(*(x.swapaxes(1, 2) for x in (q, k, v)), *rest).swapaxes(1, 2)

    turned = case.spelling == "heads-first"
    sizes = ((case.h, case.d), (case.kv, case.d), (case.kv, case.dv or case.d))
    separate = case.keys != case.s
    layer = Layer(tokens_first if turned else attend, sizes, case.width, case.weights, separate)
    weights = layer.weights(case.seed, case.type)
    draw = np.random.default_rng([case.seed, 14]).standard_normal
    shapes = [(case.b, tokens, case.width) for tokens in (case.s, case.keys)[: 1 + separate]]
    rows, parts = [draw(shape).astype(weights[0].dtype) for shape in shapes], arrays[3:]
    cotangent = draw(jax.eval_shape(layer, *weights, *rows, *parts).shape).astype(weights[0].dtype)
    if not case.grad:
        return layer, (*weights, *rows, *parts)
    momenta = [draw(weight.shape).astype(weight.dtype) for weight in weights]
    numbers = scores.learned(case.made, ("sink",) if case.grad == 1 else ())
    learned = tuple(len(weights) + len(rows) + number for number in numbers)
    step = trained(layer, len(weights), learned)
    return step, (*weights, *momenta, cotangent, *rows, *parts)
