"""Compiled programs that run in this process."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import runtime
from .arrays import as_numpy, leaves
from .locations import check_path
from .sessions import Session, SessionPool


class Executable:
    """A compiled program, its ranks threads of this process.

    Call it as the exported function was called, with global arrays: it cuts them for the ranks and
    puts results together.
    An artifact holds native code: load only those whose origin you trust.
    Threads may call one program at once: each run has memory and ranks of its own, which
    are kept for later calls. Ctrl-C ends a run, and the program may be called again.

    path: a `model.spx`.
    threads_per_rank: 0 shares the machine's cores among the ranks.
    timeout: seconds that a rank waits for another, and that a loop or a kernel of the
        program may take, before the run ends with RunError; without it, a rank waits
        300 seconds and computes for ever.
    trace: keep the events of each run, for `write_trace`.
    sessions: how many runs may be under way at once; another caller waits until one is done.
    far: the directory of far memory, for a program that keeps something there; default: memory.
    report: the JSON file that sp-compile wrote with `--report`, if any.
    keep: an object that must live as long as the program, such as its temporary folder.
    Raises TypeError for a path that is none, RunError when the file is missing, damaged, of another
    ABI version or for another CPU.
    """

    class Parameter(NamedTuple):
        """An input or a result: its name, NumPy type and global shape."""

        name: str
        dtype: np.dtype
        shape: tuple[int, ...]

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads_per_rank: int = 0,
        timeout: float | None = None,
        trace: bool = False,
        sessions: int = 4,
        far: str | os.PathLike[str] | None = None,
        report: str | os.PathLike[str] | None = None,
        keep: object = None,
    ) -> None:
        """Load the program; see the class for the arguments."""
        check_path(path, "the path of an artifact")
        self._options = (threads_per_rank, timeout, trace, far)
        self._keep = keep
        self._program = runtime.load_program(path)
        # Not `self.open_session`: the pool must not keep the Executable.
        self._pool = SessionPool(functools.partial(Session, self._program, *self._options), sessions)
        library = runtime.library()
        self.ranks: int = library.sprt_program_ranks(self._program)
        self.mesh: str = library.sprt_program_mesh(self._program).decode()
        self.inputs = tuple(self.Parameter(*found) for found in runtime.parameters(self._program, "input"))
        self.results = tuple(self.Parameter(*found) for found in runtime.parameters(self._program, "result"))
        self.report: dict | None = json.loads(Path(report).read_text()) if report is not None else None

    def __repr__(self) -> str:
        """Mesh, inputs and results."""
        return f"Executable(mesh={self.mesh!r}, inputs={_list(self.inputs)}, results={_list(self.results)})"

    def __call__(self, *arguments: Any) -> tuple[np.ndarray, ...]:
        """Run once on all ranks and return every result, the leaves of what the function returns.

        arguments: those of the exported function, such as `(weights, tokens)` with a dict of weights:
            any tree of arrays, of JAX's nodes where JAX is loaded, else of dicts, lists, tuples and
            None; or its leaves, an argument each. Those given by name come last, by sorted names.
            Arrays are one per input, of its type and global shape: NumPy's, or whatever
            speaks DLPack (JAX and torch arrays on the CPU), read in place where they are
            dense. Python scalars take the input's type. Typed keys of JAX are given as
            such or as words of uint32, and returned as words.
        Raises TypeError for arrays of the wrong number or kind, RunError for a wrong type
        or shape and when a rank fails or waits too long, and what a signal handler raises
        meanwhile, such as KeyboardInterrupt.
        """
        inputs = [
            np.asarray(array, parameter.dtype) if isinstance(array, (bool, int, float)) else as_numpy(array)
            for array, parameter in zip(self._flatten(arguments), self.inputs, strict=True)
        ]
        results = [np.empty(parameter.shape, parameter.dtype) for parameter in self.results]
        session = self._pool.take()
        try:
            session.step(inputs, results)
        finally:
            self._pool.give_back(session)
        return tuple(results)

    def _flatten(self, arguments: tuple) -> Sequence[Any]:
        """An array for each input."""
        arrays, expected = leaves(arguments), len(self.inputs)
        if len(arrays) == expected:
            return arrays
        if len(arguments) == expected and all(map(_is_array, arguments)):
            return arguments
        raise TypeError(
            f"expected {expected} arrays but got {len(arrays)}, in {len(arguments)} arguments; call the "
            "program as its function was called when it was exported, or with an array for each of "
            f"{_list(self.inputs)}"
        )

    def open_session(self) -> Session:
        """Another session, beside those that calls use."""
        return Session(self._program, *self._options)

    @property
    def last_run(self) -> dict | None:
        """What the run that ended last did, with the keys of sp-run's report.

        None before one, after one that failed, and while another thread's takes its place.
        """
        with self._pool.last() as session:
            return session.report(self.ranks) if session is not None and session.steps else None

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events of the run that ended last as a Chrome/Perfetto trace.

        Raises ValueError unless the program was loaded with `trace=True` and has run, and while
        another thread's run takes its place.
        """
        with self._pool.last() as session:
            if session is None or not session.steps or not self._options[2]:
                raise ValueError("expected a program that was loaded with trace=True and has run")
            session.write_trace(path)


def _is_array(argument: Any) -> bool:
    """Whether an argument stands for one array: as a list of numbers does."""
    arrays = leaves(argument)
    if isinstance(argument, (list, tuple)):
        return all(isinstance(each, (bool, int, float)) for each in arrays)
    return len(arrays) == 1 and arrays[0] is argument


def _list(parameters: tuple[Executable.Parameter, ...]) -> str:
    shown = [f"{p.name}: {p.dtype}[{', '.join(map(str, p.shape))}]" for p in parameters[:4]]
    if len(parameters) > len(shown):
        shown.append(f"… {len(parameters) - len(shown)} more")
    return "(" + ", ".join(shown) + ")"
