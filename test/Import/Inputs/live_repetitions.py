"""Imports what reads each of its steps several times and counts operations.

Every value is looked at once, however many ways lead to it: what is made in 24 steps
has up to 4^24 of these. A run that looks at each ends after its time and fails.
"""

import subprocess
import sys

import jax
import jax.numpy as jnp
from live import report
from live_gradients import HEADS, Q, shaped

SECONDS = 120
STEPS = 24
SINKS = shaped(HEADS)


def repeat(x, steps=STEPS):
    for _ in range(steps):
        x = x + jnp.tanh(x) * x
    return x


def scores_of(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k)


def weigh(weights, v):
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def imported(function, arguments):
    """What sp-opt makes of the gradients of a function with respect to all its arguments."""

    def gradients(*values):
        return jax.grad(lambda *values: (function(*values) ** 2).sum(), range(len(values)))(*values)

    text = jax.jit(gradients).lower(*arguments).as_text()
    command = ["sp-opt", "--sp-import-pipeline", "--sp-checkpoint-pipeline"]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS
    ).stdout


def of_scores(steps):
    def repeated(q, k, v):
        return weigh(jax.nn.softmax(repeat(scores_of(q, k), steps)), v)

    return repeated


def of_shift(q, k, v):
    scores = scores_of(q, k)
    powers = jnp.exp(scores - repeat(scores.max(-1, keepdims=True)))
    return weigh(powers / powers.sum(-1, keepdims=True), v)


def of_weights(q, k, v):
    return weigh(repeat(jax.nn.softmax(scores_of(q, k))), v)


def of_squares(q, k, v):
    weights = jax.nn.softmax(scores_of(q, k))
    for _ in range(STEPS):
        weights = weights * weights
    return weigh(weights, v)


def of_masked_scores(q, k, v, limits):
    scores = repeat(scores_of(q, k)) + limits[:, None, None]
    return weigh(jax.nn.softmax(jnp.where(scores > limits[:, None, None], scores, -jnp.inf)), v)


def of_difference(q, k, v, w, factor):
    return weigh(
        jax.nn.softmax(scores_of(q, k)) - repeat(factor)[:, None, None] * jax.nn.softmax(scores_of(w, k)), v
    )


def of_scores_of_difference(q, k, v, w):
    return weigh(jax.nn.softmax(repeat(scores_of(q, k))) - jax.nn.softmax(repeat(scores_of(w, k))), v)


def of_sums_and_differences(q, k, v, w):
    a, b = jax.nn.softmax(scores_of(q, k)), jax.nn.softmax(scores_of(w, k))
    for _ in range(STEPS):
        a, b = a + b, a - b
    return weigh(a, v)


def check_count(function, arguments, backwards):
    try:
        text = imported(function, arguments)
    except subprocess.TimeoutExpired:
        return f"{function.__name__}: took more than {SECONDS} s"
    found = text.count("sp.attention_backward(")
    if backwards is not None and found != backwards:
        return f"{function.__name__}: expected {backwards} gradients of attentions but got {found}"
    return None


def check_growth():
    """The derivative of a score function has as many operations more for every step."""
    try:
        sizes = [imported(of_scores(steps), (Q, Q, Q)).count(" = stablehlo.") for steps in (8, 16, 24)]
    except subprocess.TimeoutExpired:
        return f"repeated scores took more than {SECONDS} s"
    if sizes[1] - sizes[0] != sizes[2] - sizes[1]:
        return f"expected as many operations more for every 8 steps but got {sizes} of 8, 16 and 24"
    return None


CASES = [
    (check_growth,),
    (check_count, of_scores(2), (Q, Q, Q), 1),
    (check_count, of_scores(STEPS), (Q, Q, Q), None),
    (check_count, of_shift, (Q, Q, Q), None),
    (check_count, of_weights, (Q, Q, Q), None),
    (check_count, of_squares, (Q, Q, Q), None),
    (check_count, of_masked_scores, (Q, Q, Q, SINKS), None),
    (check_count, of_difference, (Q, Q, Q, Q, SINKS), 2),
    (check_count, of_scores_of_difference, (Q, Q, Q, Q), None),
    (check_count, of_sums_and_differences, (Q, Q, Q, Q), None),
]


if __name__ == "__main__":
    sys.exit(report(CASES, lambda check, *arguments: check(*arguments)))
