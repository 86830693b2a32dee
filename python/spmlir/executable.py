"""Compiled programs that run in this process."""

from __future__ import annotations

import json
import os
import weakref
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import runtime
from .arrays import as_numpy


class Executable:
    """A compiled program, its ranks threads of this process.

    Call it with global arrays: it cuts them for the ranks and puts results together.
    An artifact holds native code: load only those whose origin you trust.

    path: a `model.spx`.
    threads_per_rank: 0 shares the machine's cores among the ranks.
    timeout: seconds that a rank waits for another before the run ends with RunError.
    trace: keep the events of each run, for `write_trace`.
    report: the JSON file that sp-compile wrote with `--report`, if any.
    keep: an object that must live as long as the program, such as its temporary folder.
    Raises RunError when the file is missing, damaged, of another ABI version or for
    another CPU.
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
        timeout: float = 300.0,
        trace: bool = False,
        report: str | os.PathLike[str] | None = None,
        keep: object = None,
    ) -> None:
        """Load the program; see the class for the arguments."""
        self._session: c_void_p | None = None
        self._release_session: weakref.finalize | None = None
        self._session_options = (threads_per_rank, timeout, trace)
        self._keep = keep
        self._program = c_void_p()
        library = runtime.library()
        library.sprt_program_load(os.fsencode(path), byref(self._program))
        weakref.finalize(self, library.sprt_program_free, self._program)
        self.ranks: int = library.sprt_program_ranks(self._program)
        self.mesh: str = library.sprt_program_mesh(self._program).decode()
        self.inputs = tuple(self.Parameter(*found) for found in runtime.parameters(self._program, "input"))
        self.results = tuple(self.Parameter(*found) for found in runtime.parameters(self._program, "result"))
        self.report: dict | None = json.loads(Path(report).read_text()) if report is not None else None

    def __repr__(self) -> str:
        """Mesh, inputs and results."""
        return f"Executable(mesh={self.mesh!r}, inputs={_list(self.inputs)}, results={_list(self.results)})"

    def __call__(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Run once on all ranks and return every result.

        arrays: one per input, of its type and global shape: NumPy arrays, or whatever
            speaks DLPack (JAX and torch arrays on the CPU), read in place where they are
            dense. Python scalars take the input's type. Typed keys of JAX are given as
            such or as words of uint32, and returned as words.
        Raises TypeError for arrays of the wrong number or kind, RunError for a wrong type
        or shape and when a rank fails or waits too long.
        """
        if len(arrays) != len(self.inputs):
            raise TypeError(f"expected {len(self.inputs)} arrays but got {len(arrays)}")
        inputs = [
            np.asarray(array, parameter.dtype) if isinstance(array, (bool, int, float)) else as_numpy(array)
            for array, parameter in zip(arrays, self.inputs, strict=True)
        ]
        results = [np.empty(parameter.shape, parameter.dtype) for parameter in self.results]
        if self._session is None:
            self._session = self.open_session()
            free = runtime.library().sprt_session_free
            self._release_session = weakref.finalize(self, free, self._session)
        try:
            runtime.run(self._session, inputs, results)
        except runtime.RunError:
            # A failed session may not run again; the next call opens another.
            self._release_session()
            self._session = None
            raise
        return tuple(results)

    def open_session(self) -> c_void_p:
        """Another session, for the functions of `spmlir.runtime`; the caller frees it."""
        return runtime.open_session(self._program, *self._session_options)

    @property
    def last_run(self) -> dict | None:
        """What the last run did, with the keys of sp-run's report, or None before it."""
        if self._session is None:
            return None
        ranks = [runtime.rank_statistics(self._session, rank) for rank in range(self.ranks)]
        return {
            "ranks": self.ranks,
            "seconds": runtime.library().sprt_session_seconds(self._session),
            "bytesSentPerRank": [rank.bytes_sent for rank in ranks],
            "peakBytesPerRank": [rank.peak_bytes for rank in ranks],
        }

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the last run's events as a Chrome/Perfetto trace.

        Raises ValueError unless the program was loaded with `trace=True` and has run.
        """
        if self._session is None or not self._session_options[2]:
            raise ValueError("expected a program that was loaded with trace=True and has run")
        runtime.library().sprt_session_write_trace(self._session, os.fsencode(path))


def _list(parameters: tuple[Executable.Parameter, ...]) -> str:
    shown = [f"{p.name}: {p.dtype}[{', '.join(map(str, p.shape))}]" for p in parameters[:4]]
    if len(parameters) > len(shown):
        shown.append(f"… {len(parameters) - len(shown)} more")
    return "(" + ", ".join(shown) + ")"
