"""Arrays in and out: NumPy, DLPack, and the types NumPy does not name."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np


def bfloat16() -> np.dtype:
    """The type of bf16 arrays: `ml_dtypes.bfloat16`, or raw uint16 where it is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(np.uint16)
    return np.dtype(ml_dtypes.bfloat16)


def as_numpy(array: Any) -> np.ndarray:
    """View `array` as NumPy in row-major order, without a copy where that is possible.

    array: a NumPy array, a scalar, or anything that speaks DLPack or the buffer
        protocol (JAX and torch arrays on the CPU); bf16 and JAX's typed keys included.
    Raises TypeError for anything else, and for arrays on another device.
    """
    if isinstance(array, (np.ndarray, np.generic, bool, int, float)):
        return np.asarray(array, order="C")
    if type(array).__module__.partition(".")[0] == "torch":
        return _from_torch(array)
    array = key_data(array)
    try:
        # JAX arrays on the CPU hand out their own memory this way, bf16 too.
        result = np.asarray(array, order="C")
    except Exception:
        result = None
    if result is not None and result.dtype != object:
        return result
    try:
        return np.asarray(np.from_dlpack(array), order="C")
    except Exception as error:
        raise TypeError(f"expected an array on the CPU but got {type(array).__name__}: {error}") from error


def leaves(tree: Any) -> list[Any]:
    """The arrays of nested containers, in the order in which JAX makes them arguments.

    tree: with JAX in the process any tree of its; else dicts (by sorted keys), lists, tuples and None.
    """
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "tree_util"):
        return jax.tree_util.tree_leaves(tree)
    if tree is None:
        return []
    if isinstance(tree, dict):
        tree = list(tree.values() if isinstance(tree, OrderedDict) else (tree[key] for key in sorted(tree)))
    if isinstance(tree, (list, tuple)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [tree]


def key_data(array: Any) -> Any:
    """The words of a typed key of `jax.random.key`, which a program takes in its place; else `array`."""
    jax = sys.modules.get("jax")
    if jax is None or isinstance(array, np.ndarray):
        return array
    dtype = getattr(array, "dtype", None)
    is_key = dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)
    return jax.random.key_data(array) if is_key else array


def save_arrays(path: str | os.PathLike[str], prefix: str, arrays: Sequence[np.ndarray]) -> None:
    """Write arrays as `prefix`0, `prefix`1, … into one npz file."""
    np.savez(os.fspath(path), **{f"{prefix}{i}": np.asarray(array) for i, array in enumerate(arrays)})


def _from_torch(tensor: Any) -> np.ndarray:
    import torch

    if tensor.device.type != "cpu":
        raise TypeError(f"expected a tensor on the CPU but got one on {tensor.device}; call .cpu() first")
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(bfloat16())
    return tensor.numpy()
