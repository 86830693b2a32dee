"""Imports attention in many JAX spellings and counts what is found.

Each function says how many attentions it holds. Where there are any, no value
over two sequences may be left unless it is an input: lengths are primes that no
other size has.
"""

import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from live import report

BATCH, LENGTH, KEYS, HEADS, KV_HEADS, SIZE = 2, 13, 17, 4, 2, 8
CASES = []


def shaped(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


Q = shaped(BATCH, LENGTH, HEADS, SIZE)
KV = shaped(BATCH, LENGTH, KV_HEADS, SIZE)
X = shaped(BATCH, LENGTH, HEADS * SIZE)


def attentions(count, *arguments, pairs=False):
    """`pairs`: an argument is a value over two sequences."""

    def register(function):
        CASES.append((function, arguments, count, pairs))
        return function

    return register


def causal(queries=LENGTH, keys=LENGTH, offset=0):
    return jnp.tril(jnp.ones((queries, keys), bool), offset)


def attend(q, k, v, mask=None, fill=-jnp.inf):
    scores = jnp.einsum("btnh,bsnh->bnts", q, k) / np.sqrt(SIZE)
    if mask is not None:
        scores = jnp.where(mask, scores, fill)
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(scores, -1), v)


@attentions(1, Q, Q, Q)
def einsum(q, k, v):
    return attend(q, k, v, causal())


@attentions(1, Q, Q, Q)
def full(q, k, v):
    return attend(q, k, v)


@attentions(1, Q, shaped(BATCH, KEYS, HEADS, SIZE), shaped(BATCH, KEYS, HEADS, 5))
def cross(q, k, v):
    return attend(q, k, v, causal(LENGTH, KEYS, KEYS - LENGTH), -1e30)


@attentions(1, Q, KV, KV)
def library(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, scale=0.3)


@attentions(1, *[shaped(*x.shape, dtype=jnp.bfloat16) for x in (Q, KV, KV)])
def library_bf16(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@attentions(1, Q, KV, KV)
def repeated(q, k, v):
    groups = HEADS // KV_HEADS
    return attend(q, jnp.repeat(k, groups, 2), jnp.repeat(v, groups, 2), causal())


@attentions(1, Q, Q, Q)
def heads_first(q, k, v):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = jnp.matmul(q, k.swapaxes(-1, -2)) * SIZE**-0.5
    scores += jnp.where(causal(), 0, jnp.finfo(jnp.float32).min)
    return jnp.matmul(jax.nn.softmax(scores, -1), v).transpose(0, 2, 1, 3)


@attentions(1, Q, Q, Q)
def deferred(q, k, v):
    scores = jnp.where(causal(), jnp.einsum("btnh,bsnh->bnts", q, k), -jnp.inf)
    weights = jnp.exp(scores - lax.stop_gradient(scores.max(-1, keepdims=True)))
    sums = weights.sum(-1).swapaxes(1, 2)[..., None]
    return jnp.einsum("bnts,bsnh->btnh", weights, v) / sums


@attentions(1, Q, Q, Q)
def logarithm(q, k, v):
    scores = jnp.einsum("btnh,bsnh->bnts", q, k)
    return jnp.einsum("bnts,bsnh->btnh", jnp.exp(jax.nn.log_softmax(scores, -1)), v)


@attentions(1, *[shaped(BATCH, 7, HEADS, SIZE)] * 3)
def constant_table(q, k, v):
    return attend(q, k, v, np.tril(np.ones((7, 7), bool)))


@attentions(1, Q, Q, Q)
def mapped(q, k, v):
    def one(q, k, v):
        return jax.nn.softmax(jnp.where(causal(), q @ k.T, -jnp.inf), -1) @ v

    return jax.vmap(jax.vmap(one, in_axes=1, out_axes=1))(q, k, v)


@attentions(1, Q, Q, Q)
def checkpointed(q, k, v):
    return jax.checkpoint(lambda *qkv: attend(*qkv, causal()))(q, k, v)


@attentions(1, X, shaped(3, 4, HEADS * SIZE, HEADS * SIZE))
def scanned(x, weights):
    mask = causal()

    def layer(x, w):
        q, k, v = ((x @ w[i]).reshape(Q.shape) for i in range(3))
        return x + attend(q, k, v, mask).reshape(x.shape) @ w[3], None

    return lax.scan(layer, x, weights)[0]


@attentions(3, X, shaped(3, 4, HEADS * SIZE, HEADS * SIZE))
def unrolled(x, weights):
    for w in weights:
        q, k, v = ((x @ w[i]).reshape(Q.shape) for i in range(3))
        x = x + attend(q, k, v, causal()).reshape(x.shape) @ w[3]
    return x


@attentions(2, Q, Q, Q, Q)
def two_values(q, k, v, u):
    weights = jax.nn.softmax(jnp.einsum("btnh,bsnh->bnts", q, k), -1)
    return tuple(jnp.einsum("bnts,bsnh->btnh", weights, x) for x in (v, u))


@attentions(1, Q, Q, Q)
def empty_rows(q, k, v):
    scores = jnp.einsum("btnh,bsnh->bnts", q, k)
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(scores, -1, where=causal(offset=-1)), v)


@attentions(1, Q, Q, Q, shaped(LENGTH, LENGTH), pairs=True)
def learned_bias(q, k, v, bias):
    scores = jnp.einsum("btnh,bsnh->bnts", q, k) + bias
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(scores, -1), v)


@attentions(1, Q, KV, KV, shaped(BATCH, 1, LENGTH, LENGTH, dtype=bool), pairs=True)
def library_mask(q, k, v, mask):
    return jax.nn.dot_product_attention(q, k, v, mask=mask, is_causal=True)


@attentions(1, Q, KV, KV, *[shaped(BATCH, dtype=jnp.int32)] * 2)
def library_lengths(q, k, v, queries, keys):
    return jax.nn.dot_product_attention(q, k, v, query_seq_lengths=queries, key_value_seq_lengths=keys)


@attentions(1, Q, Q, Q, shaped(BATCH, LENGTH, dtype=jnp.int32))
def segments(q, k, v, ids):
    return attend(q, k, v, (ids[:, None, :, None] == ids[:, None, None, :]) & causal())


@attentions(1, Q, Q, Q, shaped(BATCH, LENGTH, dtype=bool))
def padding(q, k, v, seen):
    return attend(q, k, v, seen[:, None, None, :], -1e30)


@attentions(1, Q, Q, Q)
def soft_cap(q, k, v):
    scores = 30 * jnp.tanh(jnp.einsum("btnh,bsnh->bnts", q, k) / 30)
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(jnp.where(causal(), scores, -jnp.inf), -1), v)


@attentions(1, Q, Q, Q, shaped(2 * LENGTH - 1, HEADS))
def buckets(q, k, v, table):
    distance = jnp.arange(LENGTH)[:, None] - jnp.arange(LENGTH)
    scores = jnp.einsum("btnh,bsnh->bnts", q, k) + table[distance + LENGTH - 1].transpose(2, 0, 1)
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(scores, -1), v)


@attentions(1, Q, Q, Q, shaped(HEADS))
def head_mask(q, k, v, mask):
    weights = jax.nn.softmax(jnp.einsum("btnh,bsnh->bnts", q, k), -1) * mask[:, None, None]
    return jnp.einsum("bnts,bsnh->btnh", weights, v)


@attentions(1, Q, Q, Q, shaped(HEADS))
def sinks(q, k, v, sink):
    scores = jnp.where(causal(), jnp.einsum("btnh,bsnh->bnts", q, k), -jnp.inf)
    column = jnp.broadcast_to(sink[:, None, None], (*scores.shape[:3], 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, column], -1), -1)[..., :-1]
    return jnp.einsum("bnts,bsnh->btnh", weights, v)


@attentions(1, X, shaped(3, 4, HEADS * SIZE, HEADS * SIZE), shaped(BATCH, LENGTH, dtype=bool))
def scanned_padding(x, weights, seen):
    mask = seen[:, None, None, :] & causal()

    def layer(x, w):
        q, k, v = ((x @ w[i]).reshape(Q.shape) for i in range(3))
        return x + attend(q, k, v, mask, -1e30).reshape(x.shape) @ w[3], None

    return lax.scan(layer, x, weights)[0]


@attentions(0, X, shaped(HEADS * SIZE, 11))
def softmax_alone(x, w):
    return jax.nn.softmax(x @ w, -1)


@attentions(0, X, shaped(HEADS * SIZE, 11), shaped(BATCH, LENGTH, dtype=jnp.int32))
def cross_entropy(x, w, labels):
    logs = jax.nn.log_softmax(x @ w, -1)
    return -jnp.take_along_axis(logs, labels[..., None], -1).mean()


@attentions(0, X, shaped(HEADS * SIZE, 3), shaped(3, HEADS * SIZE, HEADS * SIZE))
def experts(x, gate, w):
    return jnp.einsum("bse,bsef->bsf", jax.nn.softmax(x @ gate, -1), jnp.einsum("bsd,edf->bsef", x, w))


@attentions(0, Q, Q, Q)
def over_queries(q, k, v):
    scores = jnp.einsum("btnh,bsnh->bnts", q, k)
    return jnp.einsum("bnts,bsnh->btnh", jax.nn.softmax(scores, 2), v)


@attentions(1, Q, Q, Q, Q)
def backward(q, k, v, cotangent):
    return jax.vjp(attend, q, k, v)[1](cotangent)


def check(function, arguments, count, pairs):
    text = jax.jit(function).lower(*arguments).as_text()
    result = subprocess.run(
        ["sp-opt", "--sp-import-pipeline", "--sp-checkpoint-pipeline"],
        input=text,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        return f"{function.__name__}: {result.stderr}"
    found = result.stdout.count("sp.attention(")
    if found != count:
        return f"{function.__name__}: expected {count} attentions but got {found}"
    if count and not pairs and re.search(rf"{LENGTH}x({LENGTH}|{KEYS})x", result.stdout):
        return f"{function.__name__}: a value over queries and keys is left"
    return None


if __name__ == "__main__":
    sys.exit(report(CASES, check))
