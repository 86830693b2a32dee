"""One program called by several threads, and signals that end a run."""

import gc
import json
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import spmlir
from spmlir import runtime

jax = pytest.importorskip("jax")
jnp = jax.numpy

# A second, and as much for a machine that does other things.
AT_ONCE_SECONDS = 2.0


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


def long_program(ranks):
    """`turns` attentions after another, of which one takes some milliseconds."""

    def repeat(q, k, v, turns):
        return jax.lax.fori_loop(0, turns, lambda _, q: attention(q, k, v), q)

    return spmlir.compile(spmlir.export(repeat, *arrays(), np.int32(3)), mesh={"sp": ranks})


class AlarmError(Exception):
    """What the handler of this file's signal raises."""


@pytest.fixture
def alarm():
    """Makes a signal come: alarm(seconds, raises)."""
    times = []

    def handle(raises):
        times.append(time.monotonic())
        if raises:
            raise AlarmError

    def start(seconds, raises=True):
        signal.signal(signal.SIGALRM, lambda *_: handle(raises))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return times

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_signal_ends_a_run_and_the_program_lives_on(alarm, ranks):
    program = long_program(ranks)
    before = program(*arrays(), np.int32(3))[0]
    # The first one ends a run that would take hours, the second one none at all.
    times = alarm(0.5)
    with pytest.raises(AlarmError):
        program(*arrays(), np.int32(2**30))
    assert time.monotonic() - times[0] < AT_ONCE_SECONDS
    np.testing.assert_array_equal(program(*arrays(), np.int32(3))[0], before)


def test_a_handler_that_does_not_raise_lets_the_run_go_on(alarm):
    program = long_program(1)
    turns = 1 + round(1 / timed(lambda: program(*arrays(), np.int32(1000))) * 1000)
    times = alarm(0.2, raises=False)
    program(*arrays(), np.int32(turns))
    assert len(times) == 1


def timed(body):
    start = time.monotonic()
    body()
    return time.monotonic() - start


def test_other_threads_go_on_when_one_is_interrupted(alarm):
    program = long_program(2)
    before = program(*arrays(1), np.int32(3))[0]
    stop = threading.Event()

    def call():
        while not stop.is_set():
            np.testing.assert_array_equal(program(*arrays(1), np.int32(3))[0], before)

    other = threading.Thread(target=in_threads, args=(1, lambda _: call()))
    other.start()
    try:
        for _ in range(3):
            alarm(0.2)
            with pytest.raises(AlarmError):
                program(*arrays(), np.int32(2**30))
    finally:
        stop.set()
        other.join()


SCRIPT = """
import os, signal, sys, threading, time, numpy as np, spmlir

program = spmlir.Executable(sys.argv[1])
inputs = [np.zeros(p.shape, p.dtype) for p in program.inputs]
sent = []

def interrupt():
    time.sleep(float(sys.argv[2]))
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    program(*inputs)
    print("was not interrupted")
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    sys.stdout.flush()
"""


@pytest.mark.parametrize("gradients", [False, True], ids=["forward", "gradients"])
def test_control_c_ends_one_long_command(tmp_path, gradients):
    """A single attention of many seconds; the gradients of one head are one tile."""
    shape = jax.ShapeDtypeStruct((1, 131072, 1 if gradients else 3, 64), "float32")

    def model(q, k, v):
        return jax.grad(lambda *x: attention(*x).sum(), (0, 1, 2))(q, k, v)

    exported = spmlir.export(model if gradients else attention, shape, shape, shape)
    spmlir.compile(exported, mesh="sp=1", output=tmp_path / "model.spx")
    # Gradients come after the forward, a quarter of the time.
    delay = "8" if gradients else "2"
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "model.spx"), delay]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert float(done.stdout) < AT_ONCE_SECONDS, done.stdout
    assert time.monotonic() - start < float(delay) + 5


def test_gradients_that_are_done_in_parts_are_the_same():
    """One rank's gradient is long enough for three parts, those of four ranks are not."""
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal((1, 12000, 1, 64), np.float32) for _ in range(4)]

    def model(q, k, v, cotangent):
        return jax.vjp(attention, q, k, v)[1](cotangent)

    exported = spmlir.export(model, *inputs)
    whole = spmlir.compile(exported, mesh="sp=1")(*inputs)
    split = spmlir.compile(exported, mesh="sp=4", strategy="ring")(*inputs)
    for ours, theirs in zip(whole, split, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
