"""spmlir.plan_batch and spmlir.pack."""

import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmlir


def rows(array):
    return [tuple(map(int, row)) for row in array]


def test_plan_of_shared_and_whole_documents():
    plan = spmlir.plan_batch([9, 3, 2, 5, 4], ranks=3, capacity=4)
    assert (plan.ranks, plan.capacity, plan.micro_batches) == (3, 4, 3)
    assert rows(plan.of(0, 0)) == [(0, 0, 0, 0, 2), (0, 0, 0, 8, 9)]
    assert rows(plan.of(1, 0)) == [(0, 1, 3, 14, 16), (0, 1, 3, 18, 19)]
    assert rows(plan.of(1, 2)) == [(2, 1, 4, 19, 23)]
    assert rows(plan.of(2, 2)) == []
    assert rows(plan.groups) == [(0, 0, 3, 0), (1, 0, 2, 3)]
    pairs = [1 + 2 + 9 + 1 + 2 + 5 + 1 + 2, 3 + 4 + 8 + 3 + 4 + 1 + 2 + 3, 5 + 6 + 7 + 10]
    assert plan.costs.tolist() == [24576 * n + p for n, p in zip((8, 8, 7), pairs, strict=True)]


def test_every_position_is_there_once():
    rng = np.random.default_rng(0)
    lengths = np.maximum(rng.lognormal(5, 1.2, 400).astype(np.int32), 1)
    plan = spmlir.plan_batch(lengths, 16, 512)
    pieces = np.sort(plan.pieces, order="begin")
    assert pieces["begin"][0] == 0
    assert pieces["end"][-1] == lengths.sum()
    np.testing.assert_array_equal(pieces["begin"][1:], pieces["end"][:-1])
    documents = np.repeat(np.arange(400), lengths)
    np.testing.assert_array_equal(documents[pieces["begin"]], pieces["document"])
    np.testing.assert_array_equal(documents[pieces["end"] - 1], pieces["document"])
    held = np.zeros((16, plan.micro_batches), np.int64)
    np.add.at(held, (pieces["rank"], pieces["micro_batch"]), pieces["end"] - pieces["begin"])
    assert held.max() <= 512
    assert plan.groups["document"].tolist() != []
    assert sorted(plan.groups["document"]) == np.flatnonzero(lengths > 512).tolist()
    np.testing.assert_array_equal(-(-lengths[plan.groups["document"]] // 512), plan.groups["size"])


def test_plans_are_equal_in_other_processes():
    code = "import spmlir; print(spmlir.plan_batch([100, 7, 900, 33] * 20, 8, 128).hash)"
    hashes = {
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert hashes == {spmlir.plan_batch([100, 7, 900, 33] * 20, 8, 128).hash + "\n"}


def test_costs_and_micro_batches_are_options():
    assert spmlir.plan_batch([4, 1], 2, 4, token_cost=0).costs.tolist() == [10, 1]
    assert spmlir.plan_batch([4, 1], 2, 4, token_cost=2, pair_cost=0).costs.tolist() == [8, 2]
    assert spmlir.plan_batch([3, 3, 2, 2, 2], 2, 6).micro_batches == 2
    assert spmlir.plan_batch([3, 3, 2, 2, 2], 2, 6, max_micro_batches=1).micro_batches == 1
    assert rows(spmlir.plan_batch([16], 4, 8, spread=True).groups) == [(0, 0, 4, 0)]


def test_no_documents():
    plan = spmlir.plan_batch([], 2, 4)
    assert (plan.micro_batches, len(plan.pieces), len(plan.groups)) == (0, 0, 0)
    assert plan.costs.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([3, 0], 1, 4), "expected documents of at least 1 token but document 1 has 0"),
        (([3], 0, 4), "expected 1 to 65536 ranks but got 0"),
        (([3], -1, 4), "expected 1 to 65536 ranks but got -1"),
        (([3], 1, 0), "expected a capacity of at least 1 token but got 0"),
        (
            ([9, 70000], 8, 8192),
            "expected documents of at most 65536 tokens (8 ranks with a capacity of 8192) but document 1 "
            "has 70000; it fits on 9 ranks, or with a capacity of 8750",
        ),
    ],
)
def test_what_does_not_fit_is_refused(arguments, text):
    with pytest.raises(spmlir.RunError) as error:
        spmlir.plan_batch(*arguments)
    assert str(error.value) == text


def test_too_many_tokens_name_the_numbers():
    with pytest.raises(spmlir.RunError, match=r"at most 16 tokens in 2 micro-batches .* but got 17"):
        spmlir.plan_batch([8, 8, 1], 2, 4, max_micro_batches=2)


def test_lengths_are_a_list_of_integers():
    with pytest.raises(TypeError, match="expected integers as lengths but got float64"):
        spmlir.plan_batch([1.5], 1, 4)
    with pytest.raises(ValueError, match="expected one dimension of lengths but got 2"):
        spmlir.plan_batch([[1]], 1, 4)
    with pytest.raises(ValueError, match="expected capacity to fit in 64 bits but got 9223372036854775808"):
        spmlir.plan_batch([1], 1, 2**63)


def test_pack():
    arrays = spmlir.pack([np.array([5, 6, 7]), [8], np.array([9, 4], np.uint8)], 8)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.int32)}
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "tokens": [[5, 6, 7, 8, 9, 4, 0, 0]],
        "segments": [[1, 1, 1, 2, 3, 3, -1, -2]],
        "positions": [[0, 1, 2, 0, 0, 1, 0, 0]],
        "labels": [[6, 7, -1, -1, 4, -1, -1, -1]],
    }


def test_pack_fills_a_row_or_none_of_it():
    assert spmlir.pack([[1, 2]], 2)["labels"].tolist() == [[2, -1]]
    assert spmlir.pack([], 2)["segments"].tolist() == [[-1, -2]]


def test_pack_rows_fills_micro_batches():
    documents = [np.full(length, number) for number, length in enumerate((3, 9, 2, 5, 4))]
    arrays = spmlir.pack_rows(documents, ranks=3, capacity=4)
    rows = arrays["documents"]
    assert arrays["tokens"].shape == (rows.max() + 1, 12)
    for number, each in enumerate(documents):
        row = arrays["tokens"][rows[number]][arrays["segments"][rows[number]] > 0]
        assert (row == number).sum() == len(each)
    # Padding is of no document, each token of its own.
    padding = arrays["segments"] <= 0
    assert (padding.sum(1) == 12 - np.bincount(rows, [len(each) for each in documents])).all()
    assert all(len(np.unique(row[row < 0])) == (row < 0).sum() for row in arrays["segments"])
    # Rows that hold nothing are there where they are asked for.
    assert (spmlir.pack_rows(documents, 3, 4, rows=5)["segments"][-1] < 0).all()


def test_rows_that_do_not_hold_all_are_refused():
    with pytest.raises(spmlir.RunError, match="expected at most 8 tokens in 1 micro-batches"):
        spmlir.pack_rows([[1] * 5, [2] * 4], 2, 4, rows=1)


def test_what_does_not_pack_is_refused():
    with pytest.raises(ValueError, match="expected room for at least 1 token but got -1"):
        spmlir.pack([], -1)
    with pytest.raises(ValueError, match="expected at most 4 tokens but 2 documents have 5"):
        spmlir.pack([[1, 2, 3], [4, 5]], 4)
    with pytest.raises(ValueError, match="at least 1 token but document 1 has 0"):
        spmlir.pack([[1], []], 4)
    with pytest.raises(TypeError, match="expected integers as document 0 but got float64"):
        spmlir.pack([[0.5]], 4)
    with pytest.raises(ValueError, match="expected one dimension of document 0 but got 2"):
        spmlir.pack([[[1]]], 4)
    with pytest.raises(ValueError, match="expected tokens of 32 bits but document 1 has others"):
        spmlir.pack([[1], [2**31]], 4)


@pytest.mark.parametrize(("lengths", "ranks", "rows"), [((3, 3, 2), 1, 2), ((6, 5), 3, 1), ((8, 8, 1), 2, 2)])
def test_rows_that_overflow_name_a_capacity_that_holds_them(lengths, ranks, rows):
    documents = [[1] * length for length in lengths]
    with pytest.raises(spmlir.RunError, match="micro-batches") as error:
        spmlir.pack_rows(documents, ranks, 4, rows)
    found = re.search(r", or compile with --tokens-per-rank=(\d+) and .* instead of 4$", str(error.value))
    assert spmlir.pack_rows(documents, ranks, int(found[1]), rows)["tokens"].shape[0] == rows
    with pytest.raises(spmlir.RunError, match=r"expected 1 to 65536 ranks but got 0$"):
        spmlir.pack_rows(documents, 0, 4, rows)


def test_drawing_shows_documents_and_idle_ranks():
    # Rank 0 has a document of 4 tokens, rank 1 one of 2 and, of padding, one of one.
    pieces = [[0, 0, 0, 0, 4], [1, 0, 1, 4, 6], [1, 0, 2, 6, 7]]
    text = spmlir.draw_batch(pieces, 2)
    assert text.count("<title>") == 2
    assert "2 documents in 1 micro-batches" in text
    # 10 and 3 pairs, of 20 that two ranks could do in that time.
    assert "idle, 35 %" in text
    # What a document has on two ranks has one colour.
    shared = spmlir.draw_batch([[0, 0, 5, 0, 3], [1, 0, 5, 3, 6]], 2)
    assert (
        len({line.split('fill="')[1].split('"')[0] for line in shared.splitlines() if "<title>" in line}) == 1
    )


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="but got none: all ranks share all of them"):
        spmlir.draw_batch([], 2)
    with pytest.raises(ValueError, match="expected pieces of 2 ranks but got one of rank 2"):
        spmlir.draw_batch([[2, 0, 0, 0, 4]], 2)
    with pytest.raises(ValueError, match="end behind where they begin"):
        spmlir.draw_batch([[0, 0, 0, 5, 3]], 2)
    with pytest.raises(ValueError, match="expected micro-batches below 10000 but got 1000000000"):
        spmlir.draw_batch([[0, 10**9, 0, 0, 3]], 2)
    with pytest.raises(TypeError):
        spmlir.draw_batch([[0, 0.5, 0, 0, 3]], 2)


def test_steps_say_which_rank_had_what():
    """One artifact for batches of other lengths each; the report is the last step's."""
    ranks, capacity = 2, 8

    def loss(w: jax.Array, x: jax.Array, segments: jax.Array) -> jax.Array:
        seen = segments[:, :, None] == segments[:, None, :]
        seen &= jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        q = (x @ w).reshape(*x.shape[:2], 1, 4)
        scores = jnp.where(seen[:, None], jnp.einsum("bqhd,bkhd->bhqk", q, q), -jnp.inf)
        return jnp.sum(jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), q) ** 2)

    def step(w: jax.Array, x: jax.Array, segments: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, slope = jax.value_and_grad(loss)(w, x, segments)
        return value, w - 0.01 * slope

    draw = np.random.default_rng(1).standard_normal
    w, x = draw((4, 4)).astype(np.float32), draw((2, 16, 4)).astype(np.float32)
    made = [spmlir.pack_rows([[1] * n for n in each], ranks, capacity, 2) for each in ((8, 8, 3), (12, 5))]
    trainer = spmlir.train_step(
        step, w, x, made[0]["segments"], mesh={"sp": ranks}, tokens_per_rank=capacity, accumulate=2
    )
    assert trainer.last_run is None
    for arrays in made:
        expected, w = step(w, x, arrays["segments"])
        assert trainer.step(x, arrays["segments"]) == pytest.approx(float(expected), rel=1e-5)
        said = trainer.last_run["documents"]
        assert said["dealt"]
        assert said["skipped"]
        held = np.zeros((2, 16), int)
        for _, row, _, begin, end in said["pieces"]:
            held[row, begin:end] += 1
        assert (held == 1).all()
        assert said["promised"]["bytesSentPerRank"] == trainer.last_run["bytesSentPerRank"]
        assert min(trainer.last_run["busySecondsPerRank"]) > 0
