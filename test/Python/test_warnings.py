"""What a program loses is said unasked, once a cause, at the user's line."""

import inspect
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmlir

TOKENS, WIDTH, HEADS = 64, 512, 4
CONSTANT = np.random.default_rng(0).standard_normal((WIDTH, 1024), np.float32)


def attention(x):
    q = k = v = x.reshape(*x.shape[:2], HEADS, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)  # here: attention


def gathered(weight, x):
    for _ in range(2):
        x = jnp.sort(attention(x) @ weight, axis=1)  # here
    return x


def whole(weight, x):
    return attention(jnp.sort(x, axis=1)) @ weight  # here


def momentum(weight, x):
    def trip(state, token):
        state = jnp.tanh(state @ weight + token)
        return state, state

    return jax.lax.scan(trip, jnp.zeros((1, WIDTH)), attention(x).swapaxes(0, 1))[1]  # here


def repeated(weight, x):
    y = jnp.sort(attention(x), axis=1)  # here: gathered
    return y @ weight  # here


def captured(weight, x):
    return attention(x) @ weight @ CONSTANT


def foreign(weight, x):
    y = x @ weight
    scores = jnp.exp(jnp.einsum("bqd,bkd->bqk", y, y))  # here
    return scores / jnp.sum(scores**2, -1, keepdims=True) @ x


def without(weight, x):
    return jax.nn.gelu(x @ weight)


def clean(weight, x):
    """Logits and their loss, weights of experts, gradients."""

    def loss(weight):
        y = x + attention(x @ weight)
        gates = jax.nn.softmax(y @ weight[:, :8])
        y = y * jnp.max(gates, -1, keepdims=True)
        return -jnp.mean(jax.nn.log_softmax(y @ weight)[..., 0])

    return jax.grad(loss)(weight)


def layers(weight, x):
    """A scan over layers, of which there are as many as divide the tokens."""

    def loss(weight):
        layer = jax.checkpoint(lambda x, weight: (x + attention(x @ weight), None))
        return jnp.mean(jax.lax.scan(layer, x, jnp.stack([weight] * 4))[0] ** 2)

    return jax.grad(loss)(weight)


def loss_in_chunks(weight, x):
    """Of chunks that ranks hold in other runs."""

    @jax.checkpoint
    def entropy(chunk, weight):
        rows, labels = chunk
        scaled = rows * jax.lax.rsqrt(jnp.mean(rows**2, -1, keepdims=True) + 1) * weight[0]
        logs = jax.nn.log_softmax(scaled @ weight)
        return -jnp.sum(jnp.take_along_axis(logs, labels[..., None], axis=-1))

    def loss(weight):
        rows = attention(x @ weight)
        labels = jnp.arange(rows.shape[0] * TOKENS).reshape(rows.shape[:2]) % WIDTH
        chunks = (jnp.moveaxis(each.reshape(len(x), 4, -1, *each.shape[2:]), 1, 0) for each in (rows, labels))
        return jnp.sum(jax.lax.map(lambda chunk: entropy(chunk, weight), tuple(chunks)))

    return jax.grad(loss)(weight)


def layered(weight, x):
    """Layers in a loop, whose trips have all of the sequence."""

    def loss(weight):
        layer = lambda y, _: (jnp.tanh(attention(y) @ weight), None)  # noqa: E731
        return jnp.mean(jax.lax.scan(layer, x, None, length=2)[0] ** 2)

    return jax.grad(loss)(weight)


def largest(weight, x):
    """Needs all sequences before their gradients."""

    def loss(weight):
        chunks = attention(x @ weight).reshape(-1, 8, TOKENS // 8, WIDTH).swapaxes(0, 1)

        def trip(most, chunk):
            return jnp.maximum(most, jnp.max(jnp.tanh(chunk @ weight), (1, 2))), None

        return jnp.max(jax.lax.scan(trip, jnp.zeros(len(x)), chunks)[0])  # here

    return jax.grad(loss)(weight)


def strided(weight, x):
    """Rows of padded windows, as an encoder of sounds takes them."""
    kernel = jnp.stack([weight] * 3)
    rows = jax.lax.conv_general_dilated(
        jnp.concatenate([x, x], axis=1), kernel, (2,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC")
    )
    return attention(rows)


def adam(weight, x):
    """An update of what a tensor axis deals, too."""

    def loss(weight):
        return jnp.mean((attention(x @ weight) @ weight) ** 2)

    value, slope = jax.value_and_grad(loss)(weight)
    first, second = 0.9 * weight + 0.1 * slope, 0.99 * weight**2 + 0.01 * slope**2
    return weight - 1e-3 * first / (jnp.sqrt(second) + 1e-8), value


def decoded(weight, x):
    """One token against a cache of those before it."""

    token = jnp.ones_like(x[:, :1])
    position = weight[0, 0].astype(int)
    cache = jax.lax.dynamic_update_slice(x, token @ weight, (0, position, 0))
    q, kv = (each.reshape(*each.shape[:2], HEADS, -1) for each in (token @ weight, cache))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, kv)
    scores = jnp.where(jnp.arange(TOKENS) <= position, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), kv).reshape(token.shape) @ weight


def line_of(model, mark="here"):
    lines, first = inspect.getsourcelines(model)
    return first + next(i for i, text in enumerate(lines) if text.rstrip().endswith(f"# {mark}"))


def compiled(model, batch=1, **options):
    weight, x = np.zeros((WIDTH, WIDTH), np.float32), np.zeros((batch, TOKENS, WIDTH), np.float32)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        program = spmlir.compile(spmlir.export(model, weight, x), **{"mesh": "sp=4"} | options)
    told = [one for one in told if one.category is spmlir.CompileWarning]
    assert all(one.filename == __file__ for one in told)
    texts = [str(one.message) for one in told]
    assert texts == [f"{one['location']}: {one['text']}" for one in program.report["warnings"]]
    return texts, program.report


def test_gathers_are_one_cause_a_line():
    texts, report = compiled(gathered)
    where = f"{__file__}:{line_of(gathered)}"
    assert texts == [
        f'{where}: stablehlo.sort needs dimension 1 whole: it is gathered over axis "sp", a rank sends '
        "96.0 KiB; this line has 2 such, 192 KiB in all"
    ]
    (warning,) = report["warnings"]
    assert warning == {
        "name": "Gathered",
        "location": where,
        "text": texts[0].removeprefix(f"{where}: "),
        "count": 2,
        "bytes": 2 * 3 * TOKENS // 4 * WIDTH * 4,
    }
    decisions = [one for one in report["decisions"] if one["name"] == "Gathered"]
    assert [one["isLoss"] for one in decisions] == [True, True]
    assert decisions[0]["values"] == {"dimension": 1, "bytes": warning["bytes"] // 2}


def test_what_ranks_make_whole():
    texts, _ = compiled(whole)
    assert texts == [
        f'{__file__}:{line_of(whole)}: every rank of axis "sp" makes all of stablehlo.sort, 128 KiB, '
        "and keeps its part of dimension 1"
    ]


def test_a_loop_that_every_rank_runs():
    (text,), _ = compiled(momentum)
    assert text.startswith(f"{__file__}:{line_of(momentum)}: every rank runs all trips of a loop: the state")
    assert text.endswith("for them it sends 96.0 KiB and makes 33.6 MFLOP of products")


def test_products_that_ranks_repeat():
    (first, second), _ = compiled(repeated)
    assert first.startswith(f"{__file__}:{line_of(repeated, 'here: gathered')}: stablehlo.sort needs")
    assert second == (
        f'{__file__}:{line_of(repeated)}: all ranks of axis "sp" make the same products, 33.6 MFLOP of a '
        "rank's 34.6 MFLOP, and among them this one"
    )


def test_weights_that_are_captured():
    (text,), _ = compiled(captured)
    assert "constants take 2.00 MiB of every rank, this one 2.00 MiB: weights that a model captures" in text


def test_why_there_is_no_attention():
    (text,), _ = compiled(foreign)
    assert text.startswith(f"{__file__}:{line_of(foreign)}: the model has no attention that could be taken: ")
    assert "softmax is not taken as attention: its result differs from an attention over the same" in text
    (text,), _ = compiled(without)
    assert "nothing shards its sequence: there is no softmax" in text and "--shard=ARG=DIMENSIONS" in text
    assert compiled(without, strategy="none")[0] == []
    assert compiled(without, mesh="sp=1")[0] == []


@pytest.mark.parametrize(
    ("options", "idle", "shared"),
    [
        (
            {"mesh": "dp=2,sp=2"},
            '1 of the 2 ranks of axis "dp" has nothing',
            "1 sequence",
        ),
        (
            {"mesh": "sp=100"},
            '36 of the 100 ranks of axis "sp" have nothing',
            "64 queries",
        ),
        (
            {"mesh": "sp=8", "strategy": "ulysses"},
            '4 of the 8 ranks of axis "sp" that exchange heads have nothing',
            "4 heads",
        ),
    ],
)
def test_ranks_without_work(options, idle, shared):
    texts, _ = compiled(clean, **options)
    where = f"{__file__}:{line_of(attention, 'here: attention')}"
    assert texts == [f"{where}: {idle} of an attention to do: it has {shared}"]


@pytest.mark.parametrize("batches", [1, 2])
def test_loops_in_turns_of_micro_batches(batches):
    options = {"mesh": "sp=3", "accumulate": batches}
    assert compiled(layered, batch=2, **options)[0] == []
    texts, _ = compiled(largest, batch=2, **options)
    where = f"{__file__}:{line_of(largest)}: every rank runs all trips of a loop: ranks hold its rows"
    assert any(text.startswith(where) for text in texts)
    assert not any(text.startswith("unknown") for text in texts)


@pytest.mark.parametrize("mesh", ["sp=4", "sp=2,tp=2", "dp=2,sp=2"])
@pytest.mark.parametrize("model", [clean, layers, loss_in_chunks])
def test_nothing_where_nothing_is_lost(model, mesh):
    assert compiled(model, batch=2, mesh=mesh)[0] == []
    compiled(model, batch=2, mesh=mesh, strict=True)


def test_decoding_loses_nothing():
    texts, report = compiled(decoded, strict=True)
    assert texts == []
    assert report["attentions"][0]["strategy"] == "split-kv"
    (text,), _ = compiled(decoded, mesh="sp=100")
    assert text.endswith('ranks of axis "sp" have nothing of an attention to do: it has 64 keys')


def test_padded_windows_stay_where_they_are():
    for layout in ("contiguous", "zigzag"):
        assert compiled(strided, layout=layout)[0] == []


@pytest.mark.parametrize("zero", [0, 1, 3])
def test_updates_are_no_loss(zero):
    donated = jax.jit(adam, donate_argnums=0)
    _, report = compiled(donated, batch=2, mesh="dp=2,sp=2,tp=2", zero=zero)
    assert [one["name"] for one in report["warnings"]] == ["NothingDealt"] * (zero == 1)  # keeps no state


def test_strict_refuses():
    with pytest.raises(spmlir.CompileError) as refused:
        compiled(gathered, strict=True)
    assert f"{__file__}:{line_of(gathered)}:" in refused.value.diagnostic
    assert "error: stablehlo.sort needs dimension 1 whole" in refused.value.diagnostic
