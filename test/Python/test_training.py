"""spmlir.train_step against JAX, step by step."""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import spmlir

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "examples"))
import llama  # noqa: E402

CONFIG = llama.Config(
    layers=1, tokens=22, vocabulary=24, width=16, hidden=24, heads=2, kv_heads=1, head_size=8
)
STEPS = 10


def loss_of(weights, tokens, targets):
    logits = jax.nn.log_softmax(llama.decoder(CONFIG, weights, tokens))
    return -jnp.mean(jnp.take_along_axis(logits, targets[..., None], axis=-1))


def adam(state, tokens, targets):
    loss, gradient = jax.value_and_grad(loss_of)(state["weights"], tokens, targets)
    count = state["count"] + 1.0
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["second"], gradient)

    def move(weight, m, v):
        return weight - 0.01 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.99**count)) + 1e-3)

    weights = jax.tree.map(move, state["weights"], first, second)
    return loss, {"count": count, "first": first, "second": second, "weights": weights}


def start():
    weights = llama.parameters(CONFIG)
    zeros = jax.tree.map(np.zeros_like, weights)
    # A float that counts: donation must not take the loss for it.
    return {"count": np.float32(0), "first": zeros, "second": zeros, "weights": weights}


def batches():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, CONFIG.vocabulary, (STEPS, 1, CONFIG.tokens + 1), dtype=np.int32)
    return [(row[:, :-1], row[:, 1:]) for row in rows]


@pytest.fixture(scope="module")
def reference():
    state, losses = start(), []
    step = jax.jit(adam)
    for batch in batches():
        loss, state = step(state, *batch)
        losses.append(float(loss))
    return losses, state


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_decoder_with_adam_trains_as_in_jax(reference, ranks):
    first = len(jax.tree.leaves(start()))
    dealt = [f"--shard=arg{number}=_,sp" for number in (first, first + 1)]
    trainer = spmlir.train_step(adam, start(), *batches()[0], mesh={"sp": ranks}, options=dealt)
    losses, state = reference
    np.testing.assert_allclose(trainer.run(batches()), losses, rtol=1e-4)
    assert trainer.state["count"] == STEPS
    for ours, theirs in zip(jax.tree.leaves(trainer.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_far_memory_changes_no_number(tmp_path):
    config = llama.Config(
        layers=3, tokens=64, vocabulary=24, width=64, hidden=128, heads=4, kv_heads=1, head_size=16
    )

    def step(weights, tokens):
        def loss(weights):
            return jnp.mean(llama.decoder(config, weights, tokens) ** 2)

        value, slopes = jax.value_and_grad(loss)(weights)
        return value, jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes)

    args = llama.parameters(config), llama.tokens(config)
    near, beside, onto = (
        spmlir.train_step(step, *args, mesh={"sp": 2}, **options)
        for options in ({}, {"offload": "host"}, {"offload": "host", "far": tmp_path})
    )
    expected = near.run([args[1:]] * 3)
    for trainer in (beside, onto):
        np.testing.assert_array_equal(trainer.run([args[1:]] * 3), expected)
        assert min(trainer.program.report["farPeakBytesPerRank"]) > 0
    assert "farPeakBytesPerRank" not in near.program.report
    with pytest.raises(spmlir.RunError, match="keeps nothing in far memory"):
        spmlir.train_step(step, *args, mesh={"sp": 2}, far=tmp_path).run([args[1:]])
    with pytest.warns(UserWarning, match=r"nothing goes to far memory in .*: it would not help"):
        tiny = spmlir.train_step(
            descend, *small_args(), mesh="sp=2", donate=(0, 1), offload="host", far=tmp_path
        )
    assert len(tiny.run([small_args()[2:]])) == 1
    with pytest.raises(spmlir.RunError, match=r"cannot open far memory in .*nowhere"):
        spmlir.train_step(step, *args, mesh={"sp": 2}, offload="host", far=tmp_path / "nowhere").run(
            [args[1:]]
        )


def descend(w, bias, x):
    loss, (dw, db) = jax.value_and_grad(lambda w, b: jnp.mean((x @ w + b) ** 2), (0, 1))(w, bias)
    return loss, w - 0.1 * dw, bias - 0.1 * db


def small_args():
    return np.ones((4, 2), np.float32), np.zeros(2, np.float32), np.ones((3, 4), np.float32)


def simple(donate=(0, 1)):
    args = small_args()
    return spmlir.train_step(descend, *args, mesh="sp=2", donate=donate), args


def test_state_is_gathered_on_demand():
    trainer, (w, bias, x) = simple()
    np.testing.assert_array_equal(trainer.state[0], w)
    for _ in range(2):
        loss, w, bias = descend(w, bias, x)
        assert trainer.step(x) == pytest.approx(float(loss), rel=1e-5)
        np.testing.assert_allclose(trainer.state[0], w, rtol=1e-5)
        np.testing.assert_allclose(trainer.state[1], bias, rtol=1e-5)


def test_batch_may_be_a_lone_argument():
    trainer, (_, _, x) = simple()
    losses = trainer.run([x, (x,)], progress=False)
    assert len(losses) == 2 and losses[1] < losses[0]


@pytest.mark.parametrize("progress", [3, "yes"])
def test_progress_is_a_function_or_not(progress):
    trainer, _ = simple()
    with pytest.raises(TypeError, match="expected progress to be True, False or a function but got"):
        trainer.run([], progress=progress)


def test_progress_is_told():
    trainer, (_, _, x) = simple()
    told = []
    losses = trainer.run([x, x, x], progress=told.append)
    assert [(each["step"], each["loss"]) for each in told] == list(enumerate(losses, 1))
    for each in told:
        # Of floats the rows are tokens.
        assert each["tokensPerSecond"] == pytest.approx(x.shape[0] / each["seconds"])
    assert told[-1]["peakBytes"] == max(trainer.last_run["peakBytesPerRank"]) > 0


def test_exported_step_runs_from_the_shell(tmp_path):
    trainer, _ = simple()
    assert trainer.exported.text.count("tf.aliasing_output") == 2
    trainer.exported.save(tmp_path)
    assert sorted(np.load(tmp_path / "inputs.npz").files) == ["arg0", "arg1", "arg2"]


def test_wrong_batch_is_refused_and_the_state_kept():
    trainer, (_, _, x) = simple()
    with pytest.raises(TypeError, match="expected a batch of structure"):
        trainer.step(x, x)
    with pytest.raises(spmlir.RunError, match="expected shape 3x4"):
        trainer.step(x[:2])
    first = trainer.step(x)
    with pytest.raises(spmlir.RunError, match="expected elements of type f32"):
        trainer.step(x.astype(np.float64))
    assert trainer.step(x) < first


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda w, x: w, r"expected \(loss, new_state\), 2 values, from the step but got ShapeDtypeStruct"),
        (lambda w, x: (w.sum(), w, w), "2 values, from the step but got 3 values"),
        (lambda w, x: (x, w), "expected the loss to be a scalar float but got"),
        (
            lambda w, x: (w.sum(), w[:1]),
            r"expected argument 0 to stay float32\[2\] but it becomes float32\[1\]",
        ),
        (lambda w, x: (w.sum(), {"w": w}), "expected argument 0 to become PyTreeDef"),
    ],
)
def test_wrong_steps_are_refused(function, message):
    with pytest.raises(TypeError, match=message):
        spmlir.train_step(function, np.ones(2, np.float32), np.ones(3, np.float32), mesh="sp=1")


def test_wrong_numbers_and_shapes_alone_are_refused():
    for donate in (3, (1, 0), (), "0"):
        with pytest.raises(ValueError, match="expected donate to number some of 3 arguments, in order"):
            simple(donate)
    with pytest.raises(TypeError, match="expected arrays for the state"):
        spmlir.train_step(descend, *[jax.ShapeDtypeStruct((2,), np.float32)] * 3, mesh="sp=1")


def test_typed_keys_are_state_and_batch():
    def step(state, key):
        weights, own = state
        own, used = jax.random.split(own)
        noise = jax.random.normal(used, weights.shape) + jax.random.normal(key, weights.shape)
        return jnp.sum(weights), (weights + noise, own)

    state, key = (jnp.ones(5), jax.random.key(1)), jax.random.key(2)
    trainer = spmlir.train_step(step, state, key, mesh={"sp": 1})
    for _ in range(2):
        loss, state = step(state, key)
        assert trainer.step(key) == pytest.approx(float(loss), rel=1e-5)
    weights, own = trainer.state
    np.testing.assert_allclose(weights, state[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(jax.random.key_data(own), jax.random.key_data(state[1]))


def test_another_thread_is_refused_while_one_trains():
    trainer, (w, bias, x) = simple()
    refused = []

    def meddle():
        for call in (lambda: trainer.step(x), lambda: trainer.state, lambda: trainer.run([x])):
            with pytest.raises(spmlir.RunError, match="expected one thread at a time to train") as error:
                call()
            refused.append(error)

    def batches():
        for _ in range(3):
            other = threading.Thread(target=meddle)
            other.start()
            other.join()
            # The thread that trains may look at what it made.
            assert len(trainer.state) == 2
            yield x

    losses = trainer.run(batches())
    assert len(refused) == 9
    for ours in losses:
        loss, w, bias = descend(w, bias, x)
        assert ours == pytest.approx(float(loss), rel=1e-5)
    other = threading.Thread(target=lambda: losses.append(trainer.step(x)))
    other.start()
    other.join()
    assert losses[3] < losses[2]


def count(state, turns):
    """The loss is the count so far; a step takes as long as `turns` says."""
    waste = jax.lax.fori_loop(0, turns, lambda _, x: jnp.sin(x), jnp.ones(1000))
    return state, state + 1 + 0 * waste[0]


def test_a_signal_between_short_steps_leaves_the_state(alarm):
    trainer = spmlir.train_step(count, np.float32(0), np.int32(100), mesh="sp=2")
    for _ in range(5):
        alarm(0.1)
        with pytest.raises(TimeoutError):
            while True:
                trainer.step(np.int32(100))
        state = trainer.state
        assert state > 0 and trainer.step(np.int32(1)) == state
        assert trainer.state == state + 1


def test_a_signal_ends_a_long_step_and_its_state_is_lost(alarm):
    trainer = spmlir.train_step(count, np.float32(0), np.int32(100), mesh="sp=2")
    trainer.step(np.int32(1))
    times = alarm(0.2)
    with pytest.raises(TimeoutError):
        trainer.step(np.int32(2**30))
    # The step still has half a second, of two cores.
    assert time.process_time() - times[0] < 2
    for call in (lambda: trainer.step(np.int32(1)), lambda: trainer.state):
        with pytest.raises(spmlir.RunError, match="was interrupted, and the state is lost with it"):
            call()
