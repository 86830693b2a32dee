"""Attention in the spellings that the matrix and the fuzzer use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import masks
from scores import Part

FILLS = ("inf", "lowest", "add", "zero")


@dataclass(frozen=True)
class Attention:
    """One attention: heads, kv heads, head size, mask, type.

    repeated: k and v are repeated for the heads of a group, which is else a dimension;
    None: where one kv head, or none, is to be repeated.
    fill: of hidden scores: -inf, the lowest number, -1e9 added, or -inf and weights of
    zero; None: -inf where k and v are repeated, else the lowest.
    """

    heads: int
    kv_heads: int
    head_size: int
    causal: bool
    dtype: str
    batch: int = 1
    # Of queries and keys; instead of full or causal.
    mask: masks.Visible | None = None
    # Further masks and what is done to scores; their arrays follow q, k and v.
    parts: tuple[Part, ...] = ()
    value_size: int | None = None
    repeated: bool | None = None
    fill: str | None = None

    def arrays(self, queries: int, keys: int, seed: int) -> tuple[np.ndarray, ...]:
        """Random q, k, v of (batch, tokens, heads, features), then the arrays of the parts."""
        rng = np.random.default_rng(seed)
        values = self.value_size or self.head_size
        shapes = [
            (queries, self.heads, self.head_size),
            (keys, self.kv_heads, self.head_size),
            (keys, self.kv_heads, values),
        ]
        qkv = tuple(
            rng.standard_normal((self.batch, *shape)).astype(jnp.dtype(self.dtype)) for shape in shapes
        )
        return qkv + tuple(array for part in self.parts for array in part.arrays)

    def __call__(self, q: jax.Array, k: jax.Array, v: jax.Array, *arrays: jax.Array) -> jax.Array:
        """Scores in at least f32, as models with bf16 activations do."""
        accumulator = jnp.promote_types(q.dtype, jnp.float32)
        scale = 1 / np.sqrt(q.shape[-1]).astype(accumulator)
        groups = self.heads // self.kv_heads
        single = self.kv_heads in (1, self.heads)
        if single if self.repeated is None else self.repeated:
            k, v = (
                jnp.broadcast_to(x, (*x.shape[:2], self.heads, x.shape[3]))
                if single
                else jnp.repeat(x, groups, axis=2)
                for x in (k, v)
            )
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=accumulator) * scale
            weights = self._weights(scores, lambda x: x, self.fill or "inf", arrays).astype(q.dtype)
            return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

        def split(x: jax.Array) -> jax.Array:
            kv_heads = self.kv_heads if x.shape[1] > 1 else 1
            return x.reshape(x.shape[0], kv_heads, x.shape[1] // kv_heads, *x.shape[2:])

        grouped = q.reshape(*q.shape[:2], self.kv_heads, groups, q.shape[3])
        scores = jnp.einsum("bqngd,bknd->bngqk", grouped, k, preferred_element_type=accumulator) * scale
        weights = self._weights(scores, split, self.fill or "lowest", arrays).astype(q.dtype)
        out = jnp.einsum("bngqk,bknd->bqngd", weights, v)
        return out.reshape(*q.shape[:3], v.shape[3])

    def _weights(
        self,
        scores: jax.Array,
        split: Callable[[jax.Array], jax.Array],
        fill: str,
        arrays: tuple[jax.Array, ...],
    ) -> jax.Array:
        """Softmax of what the mask and the parts make of scores.

        split: brings four dimensions to those of scores.
        """
        queries, keys = scores.shape[-2:]
        mask = self.mask(queries, keys) if self.mask else None
        if self.causal:
            mask = masks.causal(queries, keys)
        hidden, sink, weighted = [] if mask is None else [mask], None, 1
        for part in self.parts:
            own, arrays = arrays[: len(part.arrays)], arrays[len(part.arrays) :]
            if part.role == "cap":
                scores = part.value(scores)
            elif part.role == "added":
                scores = scores + split(part.value(*own)).astype(scores.dtype)
            elif part.role == "factor":
                scores = scores * split(part.value(*own)).astype(scores.dtype)
            elif part.role == "visible":
                hidden.append(split(part.value(*own)))
            elif part.role == "weight":
                weighted = split(part.value(*own)).astype(scores.dtype)
            else:
                sink = split(part.value(*own)[None, :, None, None]).astype(scores.dtype)
        mask = None
        if fill == "add":
            for each in hidden:
                scores = scores + jnp.where(each, 0, -1e9).astype(scores.dtype)
        elif hidden:
            mask = hidden[0]
            for each in hidden[1:]:
                mask = mask & each
            low = jnp.finfo(scores.dtype).min if fill == "lowest" else -jnp.inf
            scores = jnp.where(mask, scores, low)
        if sink is not None:
            column = jnp.broadcast_to(sink, (*scores.shape[:-1], 1))
            joined = jnp.concatenate([scores, column], axis=-1)
            return jax.nn.softmax(joined, axis=-1)[..., :-1] * weighted
        weights = jax.nn.softmax(scores, axis=-1) * weighted
        return jnp.where(mask, weights, 0) if fill == "zero" and mask is not None else weights


def every(batch: int = 1) -> list[Attention]:
    """Full and causal over groupings of heads and types, each with a head size of its own; other masks."""
    plain = [
        Attention(heads, kv_heads, head_size, causal, dtype, batch)
        for dtype, head_size in (("float64", 8), ("float32", 24), ("bfloat16", 16))
        for heads, kv_heads in ((4, 4), (6, 2), (5, 1))
        for causal in (False, True)
    ]
    masked = [
        Attention(*heads, 8, False, "float32", batch, mask)
        for heads, mask in zip(
            ((4, 2), (4, 4), (3, 1), (4, 2), (4, 4)),
            (
                masks.window(8, 3),
                masks.prefix(7),
                masks.both(masks.causal, masks.chunks(10)),
                masks.both(masks.causal, masks.documents(3, 4, 19, 30)),
                masks.blocks(5, 4),
            ),
            strict=True,
        )
    ]
    return plain + masked


def differentiated(
    fn: Callable[..., Any], arrays: tuple, seed: int, numbers: tuple[int, ...] = (0, 1, 2)
) -> tuple[Callable[..., Any], tuple]:
    """The result of `fn` and its gradients with respect to the arguments of these numbers.

    The cotangent of the result is one argument more, random numbers.
    """
    shape = jax.eval_shape(fn, *arrays)
    cotangent = np.random.default_rng(seed + 1).standard_normal(shape.shape).astype(shape.dtype)

    def model(cotangent: Any, *arrays: Any) -> tuple:
        def of(*some: Any) -> Any:
            given = dict(zip(numbers, some, strict=True))
            return fn(*(given.get(number, array) for number, array in enumerate(arrays)))

        result, pull = jax.vjp(of, *(arrays[number] for number in numbers))
        return (result, *pull(cotangent))

    return model, (cotangent, *arrays)
