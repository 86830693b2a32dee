"""Imports gradients of attention in many JAX spellings and counts what is found.

Each function is differentiated with respect to all its arguments, or to some. The
product of its result with a random cotangent is what is differentiated, so that
the program holds forward and backward, or gradients alone. Where gradients are found, no value over
two sequences may be left: lengths are primes that no other size has, or three times one.
"""

import re
import subprocess
import sys

import jax
import jax.numpy as jnp
from live import report

BATCH, LENGTH, KEYS, LONG, HEADS, KV_HEADS, SIZE = 2, 13, 17, 33, 4, 2, 8
CASES = []


def shaped(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


Q = shaped(BATCH, LENGTH, HEADS, SIZE)
KV = shaped(BATCH, LENGTH, KV_HEADS, SIZE)
X = shaped(BATCH, LENGTH, HEADS * SIZE)
HALF = shaped(BATCH, LENGTH, HEADS, SIZE, dtype=jnp.bfloat16)


def gradients(forwards, backwards, *arguments, of=None, alone=False):
    """`of`: numbers of the arguments that are differentiated; default: all. `alone`: without the value."""

    def register(function):
        of_all = tuple(range(len(arguments)))
        CASES.append((function, arguments, of or of_all, alone, forwards, backwards))
        return function

    return register


def mask(scores, fill=-jnp.inf):
    return jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, fill)


def attend(q, k, v, causal=True):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q * 0.25, k)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(mask(scores, -1e9) if causal else scores), v)


def layer(x, w):
    q, k, v = jnp.split(x @ w, 3, -1)

    def heads(value):
        return value.reshape(BATCH, LENGTH, HEADS, SIZE)

    return x + attend(heads(q), heads(k), heads(v)).reshape(x.shape)


@gradients(1, 1, Q, Q, Q)
def causal(q, k, v):
    return attend(q, k, v)


@gradients(1, 1, Q, shaped(BATCH, KEYS, HEADS, SIZE), shaped(BATCH, KEYS, HEADS, SIZE))
def cross(q, k, v):
    return attend(q, k, v, causal=False)


@gradients(1, 1, Q, KV, KV)
def repeated(q, k, v):
    return attend(q, jnp.repeat(k, 2, 2), jnp.repeat(v, 2, 2))


@gradients(1, 1, Q, KV, KV)
def grouped(q, k, v):
    q = q.reshape(BATCH, LENGTH, KV_HEADS, HEADS // KV_HEADS, SIZE)
    scores = mask(jnp.einsum("bqcgd,bkcd->bcgqk", q, k) / 3)
    return jnp.einsum("bcgqk,bkcd->bqcgd", jax.nn.softmax(scores), v)


@gradients(1, 1, Q, KV, KV)
def library(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@gradients(1, 1, Q, KV, KV)
def window(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, local_window_size=(3, 0))


@gradients(1, 1, *[shaped(BATCH, HEADS, LENGTH, SIZE)] * 3)
def heads_first(q, k, v):
    return jax.nn.softmax(mask(q @ k.swapaxes(-1, -2) / 4.0)) @ v


@gradients(1, 1, Q, Q, Q)
def through_maximum(q, k, v):
    scores = mask(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    powers = jnp.exp(scores - scores.max(-1, keepdims=True))
    return jnp.einsum("bhqk,bkhd->bqhd", powers / powers.sum(-1, keepdims=True), v)


@gradients(1, 1, Q, Q, Q)
def late_norm(q, k, v):
    scores = mask(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    powers = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
    return jnp.einsum("bhqk,bkhd->bqhd", powers, v) / powers.sum(-1).swapaxes(1, 2)[..., None]


@gradients(1, 1, Q, Q, Q)
def own_rule(q, k, v):
    with jax.softmax_custom_jvp(True):
        return attend(q, k, v)


@gradients(1, 1, Q, Q, Q)
def mapped(q, k, v):
    def head(q, k, v):
        return jax.nn.softmax(mask(q @ k.T / 4.0)) @ v

    return jax.vmap(jax.vmap(head, 1, 1))(q, k, v)


@gradients(1, 1, HALF, HALF, HALF)
def half(q, k, v):
    scores = mask(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * 0.25)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


@gradients(2, 1, Q, Q, Q)
def recomputed(q, k, v):
    return jax.checkpoint(attend)(q, k, v)


@gradients(1, 1, Q, Q, Q, of=(0,))
def of_queries(q, k, v):
    return attend(q, k, v)


@gradients(1, 1, Q, Q, Q, of=(1, 2))
def of_keys_and_values(q, k, v):
    return attend(q, k, v)


@gradients(1, 1, Q, Q, Q, of=(2,))
def of_values(q, k, v):
    return attend(q, k, v)


for some in ((0,), (1,), (0, 1), (0, 2), (0, 1, 2)):
    gradients(1, 1, Q, KV, KV, of=some, alone=True)(library)
gradients(1, 1, HALF, HALF, HALF, of=(0,), alone=True)(half)


@gradients(1, 1, Q, Q, Q, of=(1,), alone=True)
def of_keys_alone(q, k, v):
    return attend(q, k, v)


def of_sum(axes):
    """A number, or one a batch, head or row, is what gradients begin with."""

    def summed(q, k, v):
        return library(q, k, v).sum(axes)

    return summed


for axes in ((0, 1, 2, 3), (1, 2, 3), (3,), (1,)):
    gradients(1, 1, Q, KV, KV)(of_sum(axes))
for some in ((0,), (2,), (0, 1)):
    gradients(1, 1, Q, KV, KV, of=some)(of_sum((0, 1, 2, 3)))
gradients(1, 1, Q, KV, KV, of=(0, 1), alone=True)(of_sum((0, 1, 2, 3)))


@gradients(1, 1, Q)
def of_one_input(x):
    return attend(x, x, x)


@gradients(2, 2, X, shaped(2, HEADS * SIZE, 3 * HEADS * SIZE))
def two_layers(x, w):
    return layer(layer(x, w[0]), w[1])


@gradients(1, 1, X, shaped(3, HEADS * SIZE, 3 * HEADS * SIZE))
def scan(x, w):
    return jax.lax.scan(lambda x, w: (layer(x, w), None), x, w)[0]


@gradients(1, 1, X, shaped(3, HEADS * SIZE, (HEADS + 2 * KV_HEADS) * SIZE))
def scan_repeated(x, w):
    """The loop in reverse reads keys and values as they were before each went to its heads."""

    def layer(x, w):
        heads = (x @ w).reshape(BATCH, LENGTH, HEADS + 2 * KV_HEADS, SIZE)
        q, k, v = jnp.split(heads, (HEADS, HEADS + KV_HEADS), axis=2)
        k, v = (jnp.repeat(each, HEADS // KV_HEADS, axis=2) for each in (k, v))
        return x + attend(q, k, v).reshape(x.shape), None

    return jax.lax.scan(layer, x, w)[0]


@gradients(2, 1, X, shaped(3, HEADS * SIZE, 3 * HEADS * SIZE))
def scan_recomputed(x, w):
    return jax.lax.scan(jax.checkpoint(lambda x, w: (layer(x, w), None)), x, w)[0]


def by_hand(wrong=None):
    """Flash attention with its gradient spelled by hand, with a mistake where one is named."""

    @jax.custom_vjp
    def flash(q, k, v):
        return forward(q, k, v)[0]

    def forward(q, k, v):
        scores = mask(jnp.einsum("bqhd,bkhd->bhqk", q * 0.25, k), -1e9)
        lse = jax.nn.logsumexp(scores, -1)
        out = jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(scores - lse[..., None]), v)
        return out, (q, k, v, out, lse)

    def backward(saved, cotangent):
        q, k, v, out, lse = saved
        scores = jnp.einsum("bqhd,bkhd->bhqk", q * 0.25, k)
        if wrong == "later mask":
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool), 1), scores, -1e9)
        elif wrong != "no mask":
            scores = mask(scores, -1e9)
        weights = jnp.exp(scores - lse[..., None])
        slopes = jnp.einsum("bqhd,bkhd->bhqk", cotangent, k if wrong == "keys" else v)
        sums = (out * cotangent).sum(-1).swapaxes(1, 2)[..., None]
        slopes = weights * (slopes if wrong == "no sums" else slopes - sums)
        if wrong == "twice":
            slopes = weights * slopes
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", weights, out if wrong == "result" else cotangent),
        )

    flash.defvjp(forward, backward)
    flash.__name__ = wrong or "by_hand"
    return flash


gradients(1, 1, Q, Q, Q)(by_hand())
for mistake in ("later mask", "no mask", "keys", "no sums", "twice", "result"):
    gradients(0, 0, Q, Q, Q)(by_hand(mistake))


@gradients(1, 1, Q, Q, Q, shaped(HEADS), shaped(BATCH, LENGTH))
def of_cosines(q, k, v, temperatures, positions):
    """Queries and keys are quotients, and scores have more factors than these."""
    q, k = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * jnp.exp(temperatures)[:, None, None]
    near = jnp.abs(positions[:, None, :, None] - positions[:, None, None, :]) < 1
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(near, scores, -1e9)), v)


def imported(function, arguments, of, alone=False):
    """What sp-opt makes of gradients, and the value unless they are alone, as a finished process."""
    result = jax.eval_shape(function, *arguments)

    def loss(*values):
        return (function(*values[:-1]) * values[-1]).sum()

    cotangent = shaped(*result.shape, dtype=result.dtype)
    differentiate = jax.grad if alone else jax.value_and_grad
    text = jax.jit(differentiate(loss, of)).lower(*arguments, cotangent).as_text()
    return subprocess.run(
        ["sp-opt", "--sp-import-pipeline", "--sp-checkpoint-pipeline"],
        input=text,
        capture_output=True,
        text=True,
    )


def check(function, arguments, of, alone, forwards, backwards):
    output = imported(function, arguments, of, alone)
    if output.returncode != 0:
        return f"{function.__name__}: {output.stderr}"
    found = output.stdout.count("sp.attention("), output.stdout.count("sp.attention_backward(")
    if found != (forwards, backwards):
        return f"{function.__name__}: expected {forwards} and {backwards} but got {found}"
    if forwards and re.search(rf"{LENGTH}x({LENGTH}|{KEYS})x|{LONG}x{LONG}x", output.stdout):
        return f"{function.__name__}: a value over queries and keys is left"
    return None


if __name__ == "__main__":
    sys.exit(report(CASES, check))
