"""Programs as StableHLO text, from JAX functions and from portable artifacts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import key_data, save_arrays
from .locations import check_path


@dataclass(frozen=True)
class Exported:
    """A program and, where concrete arrays were given, its inputs.

    text: a StableHLO module whose `@main` takes one argument per array.
    inputs: the arrays in the order of `@main`'s arguments, or None when the
        program was exported from shapes or read from a portable artifact.
    """

    text: str
    inputs: tuple[np.ndarray, ...] | None = None

    def save(self, directory: str | os.PathLike[str], results: Sequence[np.ndarray] | None = None) -> Path:
        """Write `model.mlir`, `inputs.npz` and, where given, `results.npz`; return the folder.

        The arrays are named as sp-run expects them: arg0, arg1, … and result0, result1, …
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(self.text)
        if self.inputs is not None:
            save_arrays(folder / "inputs.npz", "arg", self.inputs)
        if results is not None:
            save_arrays(folder / "results.npz", "result", results)
        return folder

    @staticmethod
    def load(artifact: str | os.PathLike[str] | bytes) -> Exported:
        """Read StableHLO from a file or from bytes, without inputs.

        artifact: the bytes of, or the path to, StableHLO text, a portable StableHLO
            artifact, or what `jax.export.Exported.serialize()` returns. All but text
            need jaxlib.
        Raises ValueError when the bytes are none of these, TypeError for neither bytes nor a path,
        ImportError when jaxlib is needed and not installed.
        """
        name, blob = "the artifact", artifact
        if not isinstance(blob, (bytes, bytearray, memoryview)):
            check_path(artifact, "the bytes or the path of an artifact")
            name, blob = os.fspath(artifact), Path(artifact).read_bytes()
        return Exported(_text_of(bytes(blob), name))


def export(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Exported:
    """Trace a JAX function and return it as StableHLO text with its inputs.

    args, kwargs: example arguments, as for `fn`: any tree of arrays, scalars or
        `jax.ShapeDtypeStruct`; its leaves become `@main`'s arguments in tree order,
        used or not. A typed key of `jax.random.key` becomes its words of uint32. With
        any ShapeDtypeStruct among them `inputs` is None. What a function that `jax.jit`
        made donates stays donated.
    Raises whatever JAX raises when it cannot trace `fn`, and ImportError without JAX.
    """
    import jax

    return lower(jax.jit(fn, keep_unused=True, **_donated(fn, args, kwargs)), args, kwargs)


def _donated(fn: Any, args: tuple, kwargs: dict) -> dict[str, tuple]:
    """Options of `jax.jit` for what a function, if it is made by `jax.jit`, donates."""
    import jax

    if not hasattr(fn, "lower"):
        return {}
    positions, names = fn.lower(*args, **kwargs).args_info

    def takes(info: Any) -> bool:
        leaves = jax.tree.leaves(info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
        return any(leaf.donated for leaf in leaves)

    return {
        "donate_argnums": tuple(number for number, info in enumerate(positions) if takes(info)),
        "donate_argnames": tuple(name for name, info in names.items() if takes(info)),
    }


def lower(jitted: Any, args: tuple, kwargs: dict) -> Exported:
    """`export` of what `jax.jit` returned, which has to keep unused arguments."""
    import jax

    lowered = jitted.lower(*args, **kwargs)
    leaves = jax.tree.leaves((args, kwargs))
    inputs = None
    if not any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves):
        # What JAX makes of Python scalars and, unless x64 is enabled, of 64-bit arrays.
        inputs = tuple(np.asarray(jax.numpy.asarray(key_data(leaf))) for leaf in leaves)
    return Exported(lowered.as_text(debug_info=True), inputs)


def _text_of(blob: bytes, name: str) -> str:
    if not blob.startswith(b"ML\xefR"):
        try:
            text = blob.decode()
        except UnicodeDecodeError:
            text = None
        if text is not None and "\0" not in text:
            return text
        return _text_of_jax_export(blob, name)
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with ir.Context() as context:
        try:
            module = stablehlo.deserialize_portable_artifact(context, blob)
        except Exception as error:
            raise ValueError(f"{name} is not a StableHLO artifact that this jaxlib reads: {error}") from error
        return module.operation.get_asm(enable_debug_info=True)


def _text_of_jax_export(blob: bytes, name: str) -> str:
    import jax.export

    try:
        exported = jax.export.deserialize(bytearray(blob))
    except ImportError:
        raise
    except Exception as error:
        message = "neither StableHLO text, a portable StableHLO artifact nor a serialized jax.export"
        raise ValueError(f"{name} is {message}") from error
    return exported.mlir_module()
