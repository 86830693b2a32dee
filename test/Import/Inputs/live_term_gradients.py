"""Imports gradients of what scores read in JAX spellings: which sums of pairs they become.

Each function has queries, keys, values and what its scores read. `sums` names the
axes of pairs that each gradient of a term keeps, in any order: "qk", "q", "k" or "".
"""

import re
import sys

import jax
import jax.numpy as jnp
from live import report
from live_gradients import BATCH, HALF, HEADS, KV, KV_HEADS, LENGTH, SIZE, Q, imported, mask, shaped

CASES = []
THREE = (0, 1, 2)
PAIRS = shaped(HEADS, LENGTH, LENGTH)
SLOPES = shaped(HEADS)
VISIBLE = shaped(BATCH, LENGTH, dtype=jnp.bool_)


def terms(sums, *arguments, qkv=(Q, Q, Q), of=None, backwards=None):
    """`backwards`: how many attentions have gradients; default: one with `sums`."""

    def register(function):
        taken = bool(sums) if backwards is None else backwards
        CASES.append((function, qkv + arguments, of or tuple(range(3 + len(arguments))), sums, taken))
        return function

    return register


def scores_of(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25


def weigh(scores, v):
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def biased(q, k, v, bias):
    return weigh(scores_of(q, k) + bias, v)


def distance():
    return jnp.arange(LENGTH) - jnp.arange(LENGTH)[:, None]


def rename(name, function):
    function.__name__ = name
    return function


for name, sums, shape in (
    ("heads", "qk", (HEADS, LENGTH, LENGTH)),
    ("batch", "qk", (BATCH, 1, LENGTH, LENGTH)),
    ("all", "qk", (BATCH, HEADS, LENGTH, LENGTH)),
    ("keys", "k", (HEADS, 1, LENGTH)),
    ("one_row", "k", (LENGTH,)),
    ("queries", "q", (HEADS, LENGTH, 1)),
):
    terms([sums], shaped(*shape))(rename("of_" + name, lambda *arguments: biased(*arguments)))


@terms(["k"], shaped(BATCH, HEADS, 1, LENGTH), qkv=(Q, KV, KV))
def library(q, k, v, b):
    return jax.nn.dot_product_attention(q, k, v, bias=b, is_causal=True)


@terms([""], SLOPES)
def alibi(q, k, v, slopes):
    return weigh(mask(scores_of(q, k) - jnp.exp(slopes)[:, None, None] * jnp.abs(distance())), v)


def of_magnitudes(q, k, v, slopes):
    return weigh(scores_of(q, k) + jnp.abs(-slopes[:, None, None] * jnp.abs(distance())), v)


# However small, what a slope has is no sum of rows, which is nothing.
terms(["qk"], SLOPES)(of_magnitudes)
terms(["qk"], SLOPES)(rename("of_tiny_magnitudes", lambda *arguments: 1e-9 * of_magnitudes(*arguments)))


@terms(["", ""], shaped(HEADS, 2))
def kerple(q, k, v, p):
    a, b = jnp.exp(p[:, 0, None, None]), jnp.exp(p[:, 1, None, None])
    return weigh(mask(scores_of(q, k) - a * jnp.log1p(b * jnp.abs(distance()))), v)


@terms(["", ""], SLOPES)
def read_twice(q, k, v, t):
    t = t[:, None, None]
    return weigh(mask(scores_of(q, k) * jnp.exp(t) + t * distance()), v)


@terms(["q", "k"], shaped(BATCH, HEADS, LENGTH))
def forgetting(q, k, v, gates):
    sums = jnp.cumsum(jax.nn.log_sigmoid(gates), -1)
    return weigh(mask(scores_of(q, k) + sums[..., None] - sums[..., None, :]), v)


@terms([""], SLOPES)
def temperature(q, k, v, t):
    return weigh(mask(5 * jnp.tanh(scores_of(q, k) * t[:, None, None])), v)


@terms(["qk"], shaped(32, HEADS), VISIBLE, of=(0, 1, 2, 3))
def t5(q, k, v, table, visible):
    far = jnp.abs(distance())
    large = 8 + (jnp.log(far / 8 + 1e-6) * 4).astype(jnp.int32)
    bias = table[jnp.where(far < 8, far, jnp.minimum(large, 31))]
    return weigh(jnp.where(visible[:, None, None], scores_of(q, k) + jnp.moveaxis(bias, -1, 0), -1e9), v)


@terms(["qk"], shaped(2 * LENGTH - 1, HEADS))
def swin(q, k, v, table):
    return biased(
        q,
        k,
        v,
        table[(distance() + LENGTH - 1).reshape(-1)].reshape(LENGTH, LENGTH, HEADS).transpose(2, 0, 1),
    )


@terms(["qk"], shaped(2 * LENGTH - 1, HEADS))
def looked_up_twice(q, k, v, table):
    return biased(q, k, v, jnp.moveaxis(table[distance() + LENGTH - 1] + table[jnp.abs(distance())], -1, 0))


@terms(["qk"], PAIRS)
def soft_cap(q, k, v, b):
    return weigh(mask(30 * jnp.tanh((scores_of(q, k) + b) / 30)), v)


@terms(["qk"], shaped(BATCH, HEADS, LENGTH, 1, dtype=jnp.bool_), PAIRS, of=(0, 1, 2, 4))
def dropout(q, k, v, keep, b):
    weights = jax.nn.softmax(mask(scores_of(q, k) + b, -1e30))
    return jnp.einsum("bhqk,bkhd->bqhd", jnp.where(keep, weights / 0.75, 0), v)


@terms(["qk"], PAIRS, qkv=(Q, KV, KV))
def grouped(q, k, v, b):
    q = q.reshape(BATCH, LENGTH, KV_HEADS, HEADS // KV_HEADS, SIZE)
    scores = jnp.einsum("bqcgd,bkcd->bcgqk", q, k) + b.reshape(KV_HEADS, -1, LENGTH, LENGTH)
    return jnp.einsum("bcgqk,bkcd->bqcgd", jax.nn.softmax(scores), v)


@terms(["qk"], shaped(HEADS, LENGTH, LENGTH, dtype=jnp.bfloat16), qkv=(HALF, HALF, HALF))
def half(q, k, v, b):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * 0.25 + b.astype(jnp.float32)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


@terms(["qk", "k"], PAIRS, shaped(BATCH, LENGTH))
def two(q, k, v, pairs, keys):
    return weigh(scores_of(q, k) + pairs + keys[:, None, None], v)


@terms(["qk", "qk"], shaped(BATCH, HEADS, LENGTH, LENGTH), backwards=2)
def shared(q, k, v, b):
    return biased(biased(q, k, v, b), k, v, b)


@terms([], PAIRS, of=THREE, backwards=1)
def frozen(q, k, v, b):
    return biased(q, k, v, b)


@terms(["qk"], PAIRS, of=(3,))
def nothing_else(q, k, v, b):
    return biased(q, k, v, b)


@terms(["qk"], PAIRS, of=(2, 3))
def beside_values(q, k, v, b):
    return biased(q, k, v, b)


@terms([""], SLOPES, SLOPES)
def beside_sinks(q, k, v, sinks, slopes):
    scores = mask(scores_of(q, k) + slopes[:, None, None] * distance())
    rest = jnp.broadcast_to(sinks[:, None, None], (BATCH, HEADS, LENGTH, 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, rest], -1))[..., :-1]
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@terms(["qk"], shaped(3, HEADS, LENGTH, LENGTH))
def scan(q, k, v, biases):
    return jax.lax.scan(lambda x, b: (biased(x, k, v, b), None), q, biases)[0]


@terms([""], shaped(3, HEADS))
def scan_recomputed(q, k, v, slopes):
    @jax.checkpoint
    def step(x, s):
        return weigh(mask(scores_of(x, k) + s[:, None, None] * distance()), v), None

    return jax.lax.scan(step, q, slopes)[0]


def by_hand(wrong=None):
    """Flash attention with a bias, its gradients spelled by hand, with a mistake where one is named."""

    @jax.custom_vjp
    def flash(q, k, v, b):
        return forward(q, k, v, b)[0]

    def forward(q, k, v, b):
        scores = mask(scores_of(q, k) + b, -1e9)
        lse = jax.nn.logsumexp(scores, -1)
        out = jnp.einsum("bhqk,bkhd->bqhd", jnp.exp(scores - lse[..., None]), v)
        return out, (q, k, v, b, out, lse)

    def backward(saved, cotangent):
        q, k, v, b, out, lse = saved
        weights = jnp.exp(mask(scores_of(q, k) + b, -1e9) - lse[..., None])
        values = jnp.einsum("bqhd,bkhd->bhqk", cotangent, v)
        slopes = weights * (values - (out * cotangent).sum(-1).swapaxes(1, 2)[..., None])
        mistakes = {"no sums": weights * values, "weights": weights, "cotangents": slopes - values}
        return (
            jnp.einsum("bhqk,bkhd->bqhd", slopes, k) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", slopes, q) * 0.25,
            jnp.einsum("bhqk,bqhd->bkhd", weights, cotangent),
            mistakes.get(wrong, slopes).sum(0),
        )

    flash.defvjp(forward, backward)
    return rename(wrong or "by_hand", flash)


terms(["qk"], PAIRS)(by_hand())
for mistake in ("no sums", "weights", "cotangents"):
    terms([], PAIRS)(by_hand(mistake))


def check(function, arguments, of, sums, taken):
    output = imported(function, arguments, of)
    if output.returncode != 0:
        return f"{function.__name__}: {output.stderr}"
    backwards = output.stdout.count("sp.attention_backward(")
    if backwards != taken:
        return f"{function.__name__}: expected {taken} gradients of attention but got {backwards}"
    found = []
    for types in re.findall(r"\) terms\((.*?)\)", output.stdout):
        for shape in re.findall(r"tensor<(.*?)xf32>", types):
            _, query, _, key = map(int, shape.split("x"))
            found.append("q" * (query > 1) + "k" * (key > 1))
    if sorted(found) != sorted(sums):
        return f"{function.__name__}: expected sums {sums} but got {found}"
    if (
        taken
        and "qk" not in sums
        and re.search(rf"{LENGTH}x{LENGTH}x", output.stdout)
        and function is not frozen
    ):
        return f"{function.__name__}: a value over queries and keys is left"
    return None


if __name__ == "__main__":
    sys.exit(report(CASES, check))
