"""Signals that come while a program runs: it ends, and may be called again."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from test_threads import arrays, attention, in_threads

import spmlir

jax = pytest.importorskip("jax")

# Of all threads of the process, whatever else the machine does: a second of two cores.
AT_ONCE_SECONDS = 2.0


def long_program(ranks, **named):
    """`turns` attentions after another, of which one takes some milliseconds."""

    def repeat(q, k, v, turns):
        return jax.lax.fori_loop(0, turns, lambda _, q: attention(q, k, v), q)

    return spmlir.compile(spmlir.export(repeat, *arrays(), np.int32(3)), mesh={"sp": ranks}, **named)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_signal_ends_a_run_and_the_program_lives_on(alarm, ranks):
    program = long_program(ranks)
    before = program(*arrays(), np.int32(3))[0]
    # The first one ends a run that would take hours, the second one none at all.
    times = alarm(0.5)
    with pytest.raises(TimeoutError):
        program(*arrays(), np.int32(2**30))
    assert time.process_time() - times[0] < AT_ONCE_SECONDS
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
            with pytest.raises(TimeoutError):
                program(*arrays(), np.int32(2**30))
    finally:
        stop.set()
        other.join()


SCRIPT = """
import os, signal, sys, threading, time, numpy as np, spmlir

# Whoever started this may have had signals ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

program = spmlir.Executable(sys.argv[1])
inputs = [np.zeros(p.shape, p.dtype) for p in program.inputs]
sent = []

def interrupt():
    time.sleep(float(sys.argv[2]))
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    program(*inputs)
    print("was not interrupted")
except KeyboardInterrupt:
    print(time.process_time() - sent[0], flush=True)
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
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert float(done.stdout) < AT_ONCE_SECONDS, done.stdout


LEAVE = """
import sys, threading, time, numpy as np, spmlir

program = spmlir.Executable(sys.argv[1])
inputs = [np.full(p.shape, 2**30, p.dtype) for p in program.inputs]
for _ in range(3):
    threading.Thread(target=program, args=inputs, daemon=True).start()
time.sleep(0.5)
"""


def test_python_ends_while_daemon_threads_run(tmp_path):
    program = long_program(2, output=tmp_path / "model.spx")
    program(*arrays(), np.int32(3))
    command = [sys.executable, "-c", LEAVE, str(tmp_path / "model.spx")]
    subprocess.run(command, check=True, timeout=60)


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
