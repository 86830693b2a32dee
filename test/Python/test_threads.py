"""One program called by several threads."""

import gc
import json
import threading
import weakref

import numpy as np
import pytest

import spmlir
from spmlir import runtime

jax = pytest.importorskip("jax")
jnp = jax.numpy


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def arrays(seed=0, tokens=61):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((1, tokens, 4, 16), np.float32) for _ in range(3)]


def in_threads(count, body):
    """Call body(0), body(1), … on a thread each; raise what one of them raised."""
    errors = []

    def guarded(number):
        try:
            body(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("threads") / "model.spx"
    spmlir.compile(spmlir.export(attention, *arrays()), mesh="sp=3", strategy="ring", output=path)
    return path


@pytest.fixture
def opened(monkeypatch):
    """The sessions that are opened."""
    sessions, open_session = [], runtime.open_session

    def note(*arguments):
        sessions.append(open_session(*arguments))
        return sessions[-1]

    monkeypatch.setattr(runtime, "open_session", note)
    return sessions


@pytest.mark.parametrize("strategy", ["none", "ring", "double-ring", "ulysses", "2d", "allgather"])
def test_each_thread_has_its_own_numbers(strategy):
    factors = {"2d": {"heads": 2}, "double-ring": {"inner": 2}}.get(strategy, {})
    ranks = 1 if strategy == "none" else 4
    program = spmlir.compile(
        spmlir.export(attention, *arrays()), mesh={"sp": ranks}, strategy=strategy, **factors
    )

    def call(number):
        inputs = arrays(number)
        reference = np.asarray(attention(*inputs))
        for _ in range(25):
            np.testing.assert_allclose(program(*inputs)[0], reference, rtol=2e-5, atol=2e-5)

    in_threads(4, call)


def test_sessions_are_shared_and_bounded(artifact, opened):
    program = spmlir.Executable(artifact, sessions=2)
    for seed in range(5):
        in_threads(1, lambda number, seed=seed: program(*arrays(seed)))
    assert len(opened) == 1
    in_threads(8, lambda number: [program(*arrays(number)) for _ in range(5)])
    assert len(opened) == 2
    with pytest.raises(ValueError, match="expected at least 1 session but got 0"):
        spmlir.Executable(artifact, sessions=0)


def test_refused_arrays_cost_no_session(artifact, opened):
    program = spmlir.Executable(artifact)
    for _ in range(3):
        with pytest.raises(spmlir.RunError, match="expected elements of type f32"):
            program(*(array.astype(np.float64) for array in arrays()))
    program(*arrays())
    assert len(opened) == 1


def test_sessions_go_with_the_program(artifact):
    program = spmlir.Executable(artifact)
    program(*arrays())
    sessions = [weakref.ref(session) for session in program._pool._sessions]
    handle = weakref.ref(program._program)
    del program
    gc.collect()
    assert sessions and not any(session() for session in sessions)
    assert handle() is None


def test_a_session_keeps_its_program(artifact):
    program = spmlir.Executable(artifact)
    session = program.open_session()
    handle = weakref.ref(program._program)
    del program
    gc.collect()
    assert handle() is not None
    result = np.empty((1, 61, 4, 16), np.float32)
    session.step(arrays(), [result])
    np.testing.assert_allclose(result, attention(*arrays()), rtol=2e-5, atol=2e-5)


def test_reports_and_traces_are_of_whole_runs(artifact, tmp_path):
    program = spmlir.Executable(artifact, trace=True, sessions=2)
    program(*arrays())
    sent = program.last_run["bytesSentPerRank"]
    seen = []

    def call(number):
        for _ in range(20):
            program(*arrays(number))
            if (last := program.last_run) is not None:
                assert last["bytesSentPerRank"] == sent
            path = tmp_path / f"{number}.json"
            try:
                program.write_trace(path)
            except ValueError as error:
                assert "has run" in str(error)
            else:
                seen.append(len(json.loads(path.read_text())["traceEvents"]))

    in_threads(3, call)
    assert seen and min(seen) == max(seen)
