"""Caches of keys and values are told from what is trained: by name, and by what is warned of."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmlir

TOKENS, HEADS, SIZE = 1024, 4, 16


def attention(q, k, v, seen):
    scores = jnp.where(seen, jnp.einsum("bqhd,bkhd->bhqk", q, k) / SIZE**0.5, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def decode(caches, x, position):
    """One token."""
    keys, values = (jax.lax.dynamic_update_slice_in_dim(cache, x, position, 1) for cache in caches)
    return (keys, values), attention(x, keys, values, jnp.arange(TOKENS) <= position)


def prefill(caches, x, position):
    """Half a cache at once, whose rows others hold."""
    keys, values = (cache.at[:, : x.shape[1]].set(x) for cache in caches)
    row = jnp.arange(x.shape[1]) + 0 * position
    return (keys, values), attention(x, x, x, row[:, None] >= row)


def speculate(caches, x, position):
    """Some tokens a sequence, each at a position of its own."""
    positions = position + jnp.arange(len(x))
    write = jax.vmap(lambda cache, rows, at: jax.lax.dynamic_update_slice_in_dim(cache, rows, at, 0))
    keys, values = (write(cache, x, positions) for cache in caches)
    seen = jnp.arange(TOKENS) <= positions[:, None, None, None]
    return (keys, values), attention(x, keys, values, seen)


def compiled(step, tokens, donates=True, batch=1, **options):
    caches = (np.zeros((batch, TOKENS, HEADS, SIZE), np.float32),) * 2
    arguments = caches, np.zeros((batch, tokens, HEADS, SIZE), np.float32), np.int32(7)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exported = spmlir.export(jax.jit(step, donate_argnums=0 if donates else ()), *arguments)
        report = spmlir.compile(exported, **{"mesh": "sp=4"} | options).report
    return [str(one.message) for one in told if one.category is spmlir.CompileWarning], report


def test_a_cache_has_a_role_of_its_own():
    _, report = compiled(decode, 1)
    (cache,) = [group for group in report["arguments"] if group["role"] == "cache"]
    assert (cache["count"], cache["layout"], cache["rankBytes"]) == (2, "_,sp,_,_", cache["bytes"] // 4)
    assert not {"parameter", "state"} & {group["role"] for group in report["arguments"]}


def test_caches_are_nothing_to_deal_by_zero():
    with pytest.raises(spmlir.CompileError) as refused:
        compiled(decode, 1, zero=1)
    assert (
        "but no argument of floating point, beside caches, is donated for a result of its type"
        in refused.value.diagnostic
    )


@pytest.mark.parametrize("donates", [False, True])
def test_gathers_for_caches_are_warned_of(donates):
    options = {"strategy": "ring", "donates": donates}
    texts, report = compiled(prefill, TOKENS // 2 + 1, **options)
    assert len(texts) == 1
    assert "needs dimension 1 whole: it is gathered over axis" in texts[0]
    assert report["warnings"][0]["bytes"] > TOKENS * HEADS * SIZE * 4 // 4
    with pytest.raises(spmlir.CompileError):
        compiled(prefill, TOKENS // 2 + 1, strict=True, **options)


def test_rows_at_positions_of_each_sequence_stay_where_these_are():
    texts, report = compiled(speculate, 4, donates=False, batch=2)
    assert report["arguments"][0]["layout"] == "_,sp,_,_"
    assert texts == []
