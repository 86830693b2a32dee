"""Sessions: what the runtime keeps for one run, shared by the threads that call a program."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_void_p

import numpy as np

from . import runtime

# How long a run goes on before Python looks whether a signal has come.
_LOOK_SECONDS = 0.1
# How long Python waits at its end for runs of threads that it does not wait for.
_EXIT_SECONDS = 2.0


class Session:
    """One `sprt_session`: memory and ranks of one run at a time.

    A run ends with what a signal handler raises meanwhile, such as KeyboardInterrupt.

    close: a function that ends a run under way and frees everything.
    """

    def __init__(
        self,
        program: runtime.Program,
        threads_per_rank: int,
        timeout: float | None,
        trace: bool,
        far: str | os.PathLike[str] | None = None,
    ) -> None:
        """Reserve memory and start threads; see Executable for the arguments."""
        # What a run under way reads and writes.
        self._memory: object = None
        self._handle = runtime.open_session(program, threads_per_rank, timeout, trace, far)
        # The program is an argument so that it lives as long.
        self.close = weakref.finalize(self, _free, self._handle, program)
        # When Python ends, threads that it no longer runs may still be in a call.
        self.close.atexit = False
        _sessions.add(self)

    @property
    def steps(self) -> int:
        """How many runs are done."""
        return max(0, runtime.library().sprt_session_runs(self._handle)) if self.close.alive else 0

    @property
    def usable(self) -> bool:
        """Whether another run may begin: not after one that failed or was interrupted."""
        if self._memory is None or not self.close.alive:
            return self.close.alive
        try:
            return runtime.wait(self._handle, 0) and runtime.library().sprt_session_runs(self._handle) >= 0
        except runtime.RunError:
            return False

    def feed(self, result: int, number: int) -> None:
        """From now on a result of a step is input `number` of the next one."""
        runtime.library().sprt_session_feed(self._handle, result, number)

    def state_names(self, inputs: int) -> list[str | None]:
        """What checkpoints call each of so many inputs; None where no result feeds it."""
        return runtime.state_names(self._handle, inputs)

    def step(
        self,
        inputs: Sequence[np.ndarray | None],
        results: Sequence[np.ndarray | None],
        patience: float = 0.0,
    ) -> None:
        """Run the next step; None stands for an input that is fed or kept, and for a result left there.

        patience: seconds that the step may still take after a signal handler has raised.
        Raises RunError, and what a signal handler raises.
        """
        # A signal handler may raise after any line; what has happened then, the runtime knows.
        self._memory = inputs, results
        try:
            runtime.start(self._handle, inputs, results)
            while not runtime.wait(self._handle, _LOOK_SECONDS):
                pass
        except runtime.RunError:
            raise
        except BaseException:
            with contextlib.suppress(runtime.RunError):
                if not runtime.wait(self._handle, patience):
                    self.close()
            raise
        self._memory = None

    def end(self, limit: float) -> None:
        """End a run that any thread waits for, within so many seconds."""
        runtime.library().sprt_session_interrupt(self._handle)
        end = time.monotonic() + limit
        while runtime.library().sprt_session_runs(self._handle) >= 0 and time.monotonic() < end:
            # Refused while another thread waits, which then is told.
            with contextlib.suppress(runtime.RunError):
                if runtime.wait(self._handle, _LOOK_SECONDS):
                    return
            time.sleep(_LOOK_SECONDS / 10)

    def collect(self, results: Sequence[np.ndarray | None]) -> None:
        """Write results of the last step in place, but those that are None."""
        runtime.collect(self._handle, results)

    def report(self, ranks: int) -> dict:
        """What the last run did, with the keys of sp-run's report."""
        statistics = [runtime.rank_statistics(self._handle, rank) for rank in range(ranks)]
        far = {
            "farPeakBytesPerRank": [rank.far_peak_bytes for rank in statistics],
            "farReadPerRank": [rank.far_read_bytes for rank in statistics],
            "farWrittenPerRank": [rank.far_written_bytes for rank in statistics],
        }
        return {
            "ranks": ranks,
            "seconds": runtime.library().sprt_session_seconds(self._handle),
            "bytesSentPerRank": [rank.bytes_sent for rank in statistics],
            "busySecondsPerRank": [rank.busy_seconds for rank in statistics],
            "peakBytesPerRank": [rank.peak_bytes for rank in statistics],
            **(far if any(far["farPeakBytesPerRank"]) else {}),
            **self._documents(ranks),
        }

    def _documents(self, ranks: int) -> dict:
        found = runtime.documents(self._handle)
        if not found.count:
            return {}
        predicted = runtime.predictions(self._handle, ranks)
        promised = {
            "bytesSentPerRank": [rank.bytes_sent for rank in predicted],
            "flopsPerRank": [rank.flops for rank in predicted],
            "bytesAreExact": all(rank.exact for rank in predicted),
        }
        said = {"count": found.count, "skipped": bool(found.skipped), "dealt": bool(found.dealt)}
        pieces = runtime.pieces(self._handle).tolist() if found.dealt else []
        return {"documents": {**said, "promised": promised, "pieces": pieces}}

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the last run's events as a Chrome/Perfetto trace."""
        runtime.library().sprt_session_write_trace(self._handle, os.fsencode(path))


class SessionPool:
    """Sessions of one program, at most so many, each lent to one thread at a time.

    open: makes another session.
    most: how many there may be; who asks for one more waits.
    """

    def __init__(self, open: Callable[[], Session], most: int) -> None:
        """Open none yet."""
        if most < 1:
            raise ValueError(f"expected at least 1 session but got {most}")
        self._open, self._most = open, most
        # No Condition: a signal handler that raises in one may leave it locked.
        self._lock = threading.Lock()
        self._returned: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._idle: list[Session] = []
        # Weak: one that a signal handler made its borrower lose makes room.
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._last: Session | None = None

    @contextlib.contextmanager
    def last(self) -> Iterator[Session | None]:
        """The session that came back last, which nobody takes meanwhile; None while it is lent again."""
        with self._lock:
            yield self._last

    def take(self) -> Session:
        """Lend a session; `give_back` follows in any case."""
        while True:
            with self._lock:
                if self._idle:
                    session = self._idle.pop()
                    if session is self._last:
                        self._last = None
                    break
                if len(self._sessions) < self._most:
                    session = self._open()
                    self._sessions.add(session)
                    break
            with contextlib.suppress(queue.Empty):
                self._returned.get(timeout=_LOOK_SECONDS)
        if self._idle:
            self._wake()
        return session

    def give_back(self, session: Session) -> None:
        """Take a session back; one that is not usable any more is closed."""
        usable = session.usable
        if not usable:
            session.close()
        with self._lock:
            if usable:
                self._idle.append(session)
            else:
                self._sessions.discard(session)
            self._last = session if usable else None
        self._wake()

    def _wake(self) -> None:
        """Wake one thread that waits; whoever takes a session and leaves others wakes the next."""
        if self._returned.empty():
            self._returned.put(None)


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _end_runs() -> None:
    for session in list(_sessions):
        if session.close.alive:
            session.end(_EXIT_SECONDS)


def _free(handle: c_void_p, _program: runtime.Program) -> None:
    runtime.library().sprt_session_free(handle)
