"""The runtime's C ABI (`sprt/sprt.h`) through ctypes. One name here per name there."""

from __future__ import annotations

import ctypes
import functools
import os
import weakref
from collections.abc import Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)

import numpy as np

from .arrays import bfloat16
from .locations import find_library

ABI_VERSION = 7


class RunError(Exception):
    """The runtime refused a program, an array or a run, or a rank failed.

    rank, command, peer: what the failure is about, or -1.
    """

    def __init__(self, text: str, rank: int = -1, command: int = -1, peer: int = -1) -> None:
        """Keep the status's text as the message."""
        super().__init__(text)
        self.rank, self.command, self.peer = rank, command, peer


class _Array(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("dtype", c_int32),
        ("dimensions", c_int32),
        ("shape", POINTER(c_int64)),
        ("data", c_void_p),
    )


class _Parameter(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("name", c_char_p),
        ("dtype", c_int32),
        ("dimensions", c_int32),
        ("shape", POINTER(c_int64)),
        ("donated_to", c_int64),
    )


class _SessionOptions(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("communicator", c_char_p),
        ("executor", c_char_p),
        ("threads_per_rank", c_int32),
        ("timeout_seconds", c_double),
        ("trace", c_int32),
        ("inject_rank", c_int64),
        ("inject_command", c_int64),
        ("inject_stall", c_int32),
        ("device", c_char_p),
        ("far_directory", c_char_p),
        ("far_limit_bytes", c_int64),
    )


class _RankStatistics(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("bytes_sent", c_int64),
        ("peak_bytes", c_int64),
        ("seconds", c_double),
        ("far_peak_bytes", c_int64),
        ("far_read_bytes", c_int64),
        ("far_written_bytes", c_int64),
        ("busy_seconds", c_double),
    )


class _BatchOptions(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("token_cost", c_int64),
        ("pair_cost", c_int64),
        ("max_micro_batches", c_int64),
        ("spread", c_int32),
    )


class _Documents(Structure):
    _fields_ = (("size", c_size_t), ("count", c_int64), ("skipped", c_int32), ("dealt", c_int32))


class _Prediction(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("bytes_sent", c_int64),
        ("flops", c_int64),
        ("touched_bytes", c_int64),
        ("exact", c_int32),
        ("far_touched_bytes", c_int64),
        ("far_read_bytes", c_int64),
        ("far_written_bytes", c_int64),
        ("peak_bytes", c_int64),
    )


_HANDLE = POINTER(c_void_p)
# Name: result, arguments. A call whose result is _STATUS raises RunError instead.
_STATUS = c_void_p
_SIGNATURES = {
    "sprt_version": (c_char_p,),
    "sprt_abi_version": (c_uint32,),
    "sprt_status_text": (c_char_p, c_void_p),
    "sprt_status_rank": (c_int64, c_void_p),
    "sprt_status_command": (c_int64, c_void_p),
    "sprt_status_peer": (c_int64, c_void_p),
    "sprt_status_free": (None, c_void_p),
    "sprt_program_load": (_STATUS, c_char_p, _HANDLE),
    "sprt_program_free": (None, c_void_p),
    "sprt_program_ranks": (c_int64, c_void_p),
    "sprt_program_mesh": (c_char_p, c_void_p),
    "sprt_program_input_count": (c_int64, c_void_p),
    "sprt_program_result_count": (c_int64, c_void_p),
    "sprt_program_input": (_STATUS, c_void_p, c_int64, POINTER(_Parameter)),
    "sprt_program_result": (_STATUS, c_void_p, c_int64, POINTER(_Parameter)),
    "sprt_session_options_init": (None, POINTER(_SessionOptions)),
    "sprt_session_create": (_STATUS, c_void_p, POINTER(_SessionOptions), _HANDLE),
    "sprt_session_free": (None, c_void_p),
    "sprt_session_interrupt": (None, c_void_p),
    "sprt_session_runs": (c_int64, c_void_p),
    "sprt_session_feed": (_STATUS, c_void_p, c_int64, c_int64),
    "sprt_session_state_names": (_STATUS, c_void_p, POINTER(c_char_p), c_int64),
    "sprt_session_start": (_STATUS, c_void_p, POINTER(_Array), c_int64, POINTER(_Array), c_int64),
    "sprt_session_wait": (_STATUS, c_void_p, c_double, POINTER(c_int32)),
    "sprt_session_collect": (_STATUS, c_void_p, POINTER(_Array), c_int64),
    "sprt_session_rank_statistics": (_STATUS, c_void_p, c_int64, POINTER(_RankStatistics)),
    "sprt_session_documents": (_STATUS, c_void_p, POINTER(_Documents)),
    "sprt_session_pieces": (_STATUS, c_void_p, POINTER(POINTER(c_int64 * 5)), POINTER(c_int64)),
    "sprt_session_predict": (_STATUS, c_void_p, c_int64, POINTER(_Prediction)),
    "sprt_batch_options_init": (None, POINTER(_BatchOptions)),
    "sprt_batch_plan": (_STATUS, c_void_p, c_int64, c_int64, c_int64, POINTER(_BatchOptions), _HANDLE),
    "sprt_batch_free": (None, c_void_p),
    "sprt_batch_micro_batches": (c_int64, c_void_p),
    "sprt_batch_all_pieces": (POINTER(c_int64 * 5), c_void_p, POINTER(c_int64)),
    "sprt_batch_costs": (_STATUS, c_void_p, c_int64, c_void_p),
    "sprt_batch_hash": (c_char_p, c_void_p),
    "sprt_session_seconds": (c_double, c_void_p),
    "sprt_session_write_trace": (_STATUS, c_void_p, c_char_p),
}

# sprt_dtype numbers.
_TYPES = (
    *("f8", "f4", "f2", "bf16", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"),
    *("?", "c8", "c16", "V2", "V1"),
)


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime library, its functions declared.

    Raises FileNotFoundError when it is nowhere, RunError when its ABI is another.
    """
    path = find_library()
    loaded = ctypes.CDLL(str(path))
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
        if result is _STATUS:
            function.errcheck = functools.partial(_raise_status, loaded)
    version = loaded.sprt_abi_version()
    if version != ABI_VERSION:
        raise RunError(f"expected {path} to have ABI version {ABI_VERSION} but got {version}")
    return loaded


def numpy_type(dtype: int) -> np.dtype:
    """The NumPy type of a `sprt_dtype`."""
    return bfloat16() if _TYPES[dtype] == "bf16" else np.dtype(_TYPES[dtype])


def describe(array: np.ndarray) -> _Array:
    """A `sprt_array` over the memory of `array`, which must outlive it."""
    if array.dtype == bfloat16() and array.dtype.kind not in "iu":
        dtype = _TYPES.index("bf16")
    else:
        spelled = array.dtype.str[1:] if array.dtype.kind != "b" else "?"
        if spelled not in _TYPES or not array.dtype.isnative:
            raise TypeError(f"arrays of type {array.dtype} are not supported")
        dtype = _TYPES.index(spelled)
    shape = (c_int64 * array.ndim)(*array.shape)
    return _Array(ctypes.sizeof(_Array), dtype, array.ndim, shape, array.ctypes.data)


def parameters(program: c_void_p, kind: str) -> list[tuple[str, np.dtype, tuple[int, ...]]]:
    """Name, type and shape of each "input" or "result" of a program."""
    count = getattr(library(), f"sprt_program_{kind}_count")(program)
    found = []
    for index in range(count):
        raw = _Parameter(size=ctypes.sizeof(_Parameter))
        getattr(library(), f"sprt_program_{kind}")(program, index, byref(raw))
        shape = tuple(raw.shape[i] for i in range(raw.dimensions))
        found.append(((raw.name or b"").decode(), numpy_type(raw.dtype), shape))
    return found


class Program(c_void_p):
    """A loaded `sprt_program`, which goes when nobody refers to it any more."""


def load_program(path: str | os.PathLike[str]) -> Program:
    """Load an artifact. Raises RunError when it is missing, damaged or not for this machine."""
    program = Program()
    library().sprt_program_load(os.fsencode(path), byref(program))
    free = weakref.finalize(program, library().sprt_program_free, c_void_p(program.value))
    # When Python ends, a thread may still run it.
    free.atexit = False
    return program


def open_session(
    program: Program,
    threads_per_rank: int,
    timeout: float | None,
    trace: bool,
    far: str | os.PathLike[str] | None = None,
) -> c_void_p:
    """A session whose ranks are threads of this process. far: the directory of far memory, else memory."""
    options = _SessionOptions(size=ctypes.sizeof(_SessionOptions))
    library().sprt_session_options_init(byref(options))
    options.threads_per_rank = threads_per_rank
    options.timeout_seconds = 0.0 if timeout is None else timeout
    options.trace = int(trace)
    options.far_directory = None if far is None else os.fsencode(far)
    session = c_void_p()
    library().sprt_session_create(program, byref(options), byref(session))
    return session


def state_names(session: c_void_p, inputs: int) -> list[str | None]:
    """What checkpoints call each of so many inputs; None where no result feeds it."""
    names = (c_char_p * inputs)()
    library().sprt_session_state_names(session, names, inputs)
    return [None if name is None else name.decode() for name in names]


def start(
    session: c_void_p, inputs: Sequence[np.ndarray | None], results: Sequence[np.ndarray | None]
) -> None:
    """Begin the next step; None stands for an input that is fed or kept, and for a result left there.

    The arrays must live until `wait` has said that it is done.
    """
    given = (_Array * len(inputs))(*map(_describe_any, inputs))
    wanted = (_Array * len(results))(*map(_describe_any, results))
    library().sprt_session_start(session, given, len(inputs), wanted, len(results))


def wait(session: c_void_p, seconds: float) -> bool:
    """Whether no run is under way, after so many seconds at most. Raises RunError when it has failed."""
    done = c_int32()
    library().sprt_session_wait(session, seconds, byref(done))
    return bool(done.value)


def collect(session: c_void_p, results: Sequence[np.ndarray | None]) -> None:
    """Write results of the last run or step in place, but those that are None."""
    wanted = (_Array * len(results))(*map(_describe_any, results))
    library().sprt_session_collect(session, wanted, len(results))


def _describe_any(array: np.ndarray | None) -> _Array:
    return describe(array) if array is not None else _Array(size=ctypes.sizeof(_Array))


def rank_statistics(session: c_void_p, rank: int) -> _RankStatistics:
    """Bytes sent, peak bytes and seconds of one rank in the last run."""
    statistics = _RankStatistics(size=ctypes.sizeof(_RankStatistics))
    library().sprt_session_rank_statistics(session, rank, byref(statistics))
    return statistics


def documents(session: c_void_p) -> _Documents:
    """How many documents the inputs of the last run told apart, whether pairs of two were skipped, and
    whether documents were dealt to ranks."""
    found = _Documents(size=ctypes.sizeof(_Documents))
    library().sprt_session_documents(session, byref(found))
    return found


def pieces(session: c_void_p) -> np.ndarray:
    """Rank, row, document, begin and end of what ranks had of the last run's documents: int64 [pieces, 5]."""
    count, found = c_int64(), POINTER(c_int64 * 5)()
    library().sprt_session_pieces(session, byref(found), byref(count))
    return _pieces(found, count.value)


def predictions(session: c_void_p, ranks: int) -> Sequence[_Prediction]:
    """What each rank does in a run with the documents of the last one."""
    predicted = (_Prediction * ranks)(*[_Prediction(size=ctypes.sizeof(_Prediction))] * ranks)
    library().sprt_session_predict(session, ranks, predicted)
    return predicted


def batch(lengths: np.ndarray, ranks: int, capacity: int, options: dict[str, int | None]) -> c_void_p:
    """A `sprt_batch` of int64 lengths, which the caller frees; options by name there, None: default."""
    given = _BatchOptions()
    library().sprt_batch_options_init(byref(given))
    for name, value in options.items():
        if value is not None:
            setattr(given, name, value)
    planned = c_void_p()
    library().sprt_batch_plan(
        lengths.ctypes.data, len(lengths), ranks, capacity, byref(given), byref(planned)
    )
    return planned


def batch_pieces(planned: c_void_p) -> np.ndarray:
    """Rank, micro-batch, document, begin and end of each piece: int64 [pieces, 5]."""
    count = c_int64()
    found = library().sprt_batch_all_pieces(planned, byref(count))
    return _pieces(found, count.value)


def _pieces(found: object, count: int) -> np.ndarray:
    if not count:
        return np.zeros((0, 5), np.int64)
    return np.ctypeslib.as_array(found, (count,)).reshape(-1, 5).copy()


def _raise_status(loaded: ctypes.CDLL, status: int | None, _function: object, _arguments: object) -> None:
    if not status:
        return
    error = RunError(
        (loaded.sprt_status_text(status) or b"").decode(errors="replace"),
        loaded.sprt_status_rank(status),
        loaded.sprt_status_command(status),
        loaded.sprt_status_peer(status),
    )
    loaded.sprt_status_free(status)
    raise error
